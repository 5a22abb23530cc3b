#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The documentation as a book, by mdBook.

book.py             builds it in target/book, and checks that every link in it leads to a page and a heading
book.py preprocess  what mdBook calls: pages outside docs/ get a place in the book, and links to other files of the
                    repository lead to the host of its code
"""

import html.parser
import json
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
BOOK = ROOT / "target/book"
SOURCES = "docs"
REPOSITORY = "https://github.com/dmo-trace/dmo-trace"
FENCE = re.compile(r"^\s*(```|~~~)")
LINK = re.compile(r"\]\(([^()\s]+)\)")


def repository_path(chapter):
    """The page of a chapter, from the root of the repository."""
    return posixpath.normpath(posixpath.join(SOURCES, chapter["source_path"]))


def book_path(page):
    """Where a page of the repository lies in the book; mdBook names the page of a folder index."""
    inside = page.removeprefix(SOURCES + "/")
    folder, name = posixpath.split(inside)
    return posixpath.join(folder, "index.md") if name == "README.md" else inside


def chapters(items):
    """All chapters of a book that have a page, parents before their parts."""
    for item in items:
        if chapter := isinstance(item, dict) and item.get("Chapter"):
            if chapter["source_path"]:
                yield chapter
            yield from chapters(chapter["sub_items"])


def destination(link, page, pages):
    """What a link of a page becomes in the book."""
    path, hash_sign, heading = link.partition("#")
    if not path or "://" in path or path.startswith("mailto:"):
        return link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    if target in pages or target.startswith(f"{SOURCES}/") and not target.endswith(".md"):
        path = posixpath.relpath(book_path(target), posixpath.dirname(book_path(page)) or ".")
    else:
        kind = "tree" if (ROOT / target).is_dir() else "blob"
        path = f"{REPOSITORY}/{kind}/main/{target}"
    return path + hash_sign + heading


def with_links(text, page, pages):
    """The text of a page with its links as they are in the book; code stays as it is."""
    lines, code = [], False
    for line in text.split("\n"):
        if FENCE.match(line):
            code = not code
        elif not code:
            line = LINK.sub(lambda link: f"]({destination(link[1], page, pages)})", line)
        lines.append(line)
    return "\n".join(lines)


def preprocess():
    _, book = json.load(sys.stdin)
    all_chapters = list(chapters(book.get("items") or book.get("sections")))
    pages = {repository_path(chapter) for chapter in all_chapters}
    for chapter in all_chapters:
        page = repository_path(chapter)
        chapter["path"] = book_path(page)
        chapter["content"] = with_links(chapter["content"], page, pages)
    json.dump(book, sys.stdout)


class Page(html.parser.HTMLParser):
    """What a page of the book links to, and which places in it can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.names.add(value)
            elif name in ("href", "src") and tag != "base":
                self.links.append(value)


def broken_links(folder):
    """The links of all pages that lead nowhere, and how many links there are."""
    # The page for printing repeats all others, and that for unknown addresses is of no place.
    paths = [path for path in folder.rglob("*.html") if path.name not in ("print.html", "404.html", "toc.html")]
    pages = {path: Page(path) for path in paths}
    broken, count = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = pathlib.Path(os.path.normpath(path.parent / urllib.parse.unquote(parts.path))) if parts.path else path
            there = target in pages or target.is_file()
            if not there or parts.fragment and target in pages and parts.fragment not in pages[target].names:
                broken.append(f"{path.relative_to(folder)}: {link}")
    return broken, count, len(pages)


def build():
    mdbook = os.environ.get("MDBOOK", "mdbook")
    shutil.rmtree(BOOK, ignore_errors=True)
    try:
        subprocess.run([mdbook, "build"], cwd=ROOT, check=True)
    except FileNotFoundError:
        sys.exit(f"{mdbook} is missing: cargo install --locked mdbook")
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    broken, count, pages = broken_links(BOOK)
    if broken or count < 10 * pages:
        sys.exit("\n".join(["links of the book that lead nowhere:", *broken, f"{count} links on {pages} pages"]))
    print(f"target/book/index.html: {pages} pages, all of their {count} links lead somewhere")


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            build()
        case ["preprocess"]:
            preprocess()
        case ["preprocess", "supports", renderer]:
            sys.exit(renderer != "html")
        case _:
            sys.exit(__doc__)
