#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Prints the licences of all packages of others that a built dmo-trace contains, with their texts.

Usage: third_party.py TARGET [--package NAME] [CARGO-OPTION...], for example third_party.py x86_64-unknown-linux-musl --no-default-features
"""

import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent
# Texts lie beside Cargo.toml, or beside the C sources that a package brings along.
TEXTS = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "COPYRIGHT*")
BUILT = "dmo-trace"


def linked_packages(metadata, built):
    """The packages that the program links: build scripts, macros and tests are not in it."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    is_macro = lambda package: any("proc-macro" in target["kind"] for target in package["targets"])
    root = next(id for id, package in packages.items() if package["name"] == built)
    found, unread = {root}, [root]
    while unread:
        for dependency in nodes[unread.pop()]["deps"]:
            is_normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            id = dependency["pkg"]
            if is_normal and id not in found and not is_macro(packages[id]):
                found.add(id)
                unread.append(id)
    # Those without a source are ours.
    foreign = (packages[id] for id in found if packages[id]["source"])
    return sorted(foreign, key=lambda package: (package["name"], package["version"]))


def texts(folder):
    """Name and text of each licence file of a package."""
    for pattern in TEXTS:
        for path in sorted([*folder.glob(pattern), *folder.glob("*/" + pattern)]):
            if path.is_file():
                yield str(path.relative_to(folder)), path.read_text("utf-8", "replace").strip()


def main():
    target, *options = sys.argv[1:]
    built = BUILT
    if options[:1] == ["--package"]:
        built, options = options[1], options[2:]
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    command += ["--manifest-path", str(FOLDER / "tracer/Cargo.toml"), *options]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    print("The program contains these packages, under their licences. The texts follow.\n")
    packages = linked_packages(metadata, built)
    users = {}
    for package in packages:
        name = f"{package['name']} {package['version']}"
        found = list(texts(pathlib.Path(package["manifest_path"]).parent))
        licence = package["license"] or "see below"
        print(f"{name}: {licence}" + ("" if found else " (the package has no text of it)"))
        for path, text in found:
            users.setdefault(text, []).append(f"{name}, {path}")
    print("\nIt also contains Rust's standard library, MIT OR Apache-2.0 (Copyright (c) The Rust Project Contributors),")
    print("and on musl targets the C library musl, MIT (Copyright (c) 2005-2020 Rich Felker, et al.).")
    for text, names in users.items():
        print("\n" + "=" * 80)
        print("\n".join(names) + "\n\n" + text)


if __name__ == "__main__":
    main()
