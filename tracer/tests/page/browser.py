#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Opens the pages of --report in Chromium, and holds what they show against --json.

usage: browser.py PROGRAM [--screenshots DIR]
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from webdriver import Browser

MODEL = "zoo:mobilenet_v1_0.25_128:int8"
PROGRAM = pathlib.Path(__file__).resolve().parents[3] / "traces/elf/cortex-m4/network.elf"
TILED = "zoo:mobilenet_v2_0.35_224:int8"
DETAIL = "return document.getElementById('detail').innerText"
HOSTILE = ['"><img src=x onerror=document.title=1>', "</script><script>document.title=1</script>",
           "<!--<script>document.title=1//", "'onfocus='document.title=1", "]]>&lt;b&gt;\\u003cb"]
checks = 0


def hold(condition, text):
    global checks
    checks += 1
    if not condition:
        raise AssertionError(text)


def number(value):
    return f"{value:,}"


class Pages:
    """The pages of several runs of the program, in a folder of their own."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def make(self, name, *arguments, expected=0):
        path = self.folder / f"{name}.html"
        run = subprocess.run([self.program, *arguments, "--report", path, "--json"], capture_output=True, text=True)
        hold(run.returncode == expected, f"{arguments}: exit code {run.returncode}\n{run.stderr}")
        hold(path.stat().st_size < 3_000_000, f"{path} is too large")
        return path, json.loads(run.stdout)

    def hostile_model(self):
        """A model whose first tensors have names that would be markup, of the length that they had."""
        plain = self.folder / "plain.tflite"
        subprocess.run([self.program, "zoo", "export", MODEL.removeprefix("zoo:"), "--out", plain], check=True, capture_output=True)
        content = plain.read_bytes()
        names = sorted(set(re.findall(rb"conv\d+/(?:depthwise_)?conv_2d_\d+\x00", content)), key=len, reverse=True)
        hold(len(names) >= len(HOSTILE), f"{len(names)} names")
        for name, hostile in zip(names, HOSTILE):
            # What does not fit is cut: the start is what could do harm.
            content = content.replace(name, hostile.encode()[: len(name) - 1].ljust(len(name) - 1, b">") + b"\x00")
        path = self.folder / "hostile.tflite"
        path.write_bytes(content)
        return path


def quiet(browser, path):
    """Nothing is reported to the console, and nothing but the file is requested."""
    messages = [it for it in browser.log("browser") if it["level"] in ("SEVERE", "WARNING")]
    hold(not messages, f"{path}: {messages}")
    requests = 0
    for entry in browser.log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            requests += 1
            url = message["params"]["request"]["url"]
            hold(url in browser.opened or url.startswith("data:"), f"{path} requests {url}")
    hold(requests >= 1, f"{path}: no request was seen at all")


def middle(browser, selector):
    """A place of the window where this element is on top, and no other."""
    return browser.run("""
        const block = document.querySelector(arguments[0]);
        block.scrollIntoView({ block: 'center' });
        const box = block.getBoundingClientRect();
        for (const across of [.5, .2, .8]) for (const down of [.5, .2, .8, .05, .95]) {
          const [x, y] = [box.left + box.width * across, box.top + box.height * down];
          if (document.elementFromPoint(x, y) === block) return [x, y];
        }
        return null;""", selector)


def says(browser, tensor, plan):
    """The details are those of this tensor of the plan."""
    text = browser.run(DETAIL)
    size = (tensor["size_bytes"] + 15) // 16 * 16
    for part in (f"Tensor {tensor['tensor']}", f"{number(size)} bytes", f"{number(tensor['offset'])} to ", tensor["name"][:40]):
        hold(part in text, f"{part!r} is not in {text!r}")
    for overlap in plan["overlaps"]:
        # Of an alias both tensors are one buffer.
        if overlap["sharing"] != "alias" and tensor["tensor"] in (overlap["input"], overlap["output"]):
            needed = overlap["sharing"]["displaced"]
            output = next(it for it in plan["tensors"] if it["tensor"] == overlap["output"])
            hold(f"{number(output['size_bytes'] - needed)} bytes" in text, f"O_s in {text!r}")
            hold(f"{number(needed)} bytes above the output" in text, f"the displacement in {text!r}")


def pointer_and_keys(browser, path, plan):
    browser.open(path)
    tensors = {it["tensor"]: it for it in plan["tensors"]}
    blocks = browser.run("return JSON.parse(document.getElementById('page').textContent).maps[0].buffers")
    hold(len(plan["overlaps"]) > 0 and len(blocks) >= 20, "the plan is too small to test with")
    hovered = 0
    for index, block in enumerate(blocks):
        place = block["tensors"] and middle(browser, f"#buffer-{index}")
        if place:
            browser.point(*place)
            says(browser, tensors[block["tensors"][0]], plan)
            hovered += 1
    hold(hovered >= 20, f"only {hovered} buffers could be pointed at")
    # With keys alone: Tab to the map, then through all of it.
    browser.open(path)
    for _ in range(12):
        browser.press("Tab")
        if browser.run("return document.activeElement.matches('.main svg.map')"):
            break
    hold(browser.run("return document.activeElement.matches('.main svg.map')"), "Tab does not reach the map")
    seen = set()
    for _ in blocks:
        active = browser.run("return document.activeElement.getAttribute('aria-activedescendant')")
        block = blocks[int(active.removeprefix("buffer-"))]
        seen.add(active)
        if block["tensors"]:
            says(browser, tensors[block["tensors"][0]], plan)
        browser.press("ArrowRight")
    hold(len(seen) == len(blocks), f"keys reach {len(seen)} of {len(blocks)} buffers")
    quiet(browser, path)


def screen_reader(browser, plan):
    tree = browser.devtools("Accessibility.getFullAXTree")["nodes"]
    named = [(it["role"]["value"], it.get("name", {}).get("value", "")) for it in tree if not it["ignored"]]
    options = [name for role, name in named if role == "option"]
    largest = max(plan["tensors"], key=lambda it: it["size_bytes"])
    hold(any(number(largest["size_bytes"]) in name and f"Tensor {largest['tensor']}" in name for name in options),
         f"no option names tensor {largest['tensor']}: {options[:5]}")
    roles = {role for role, _ in named}
    hold({"listbox", "searchbox", "table", "main", "heading"} <= roles, f"roles: {roles}")
    nameless = [it for it in named if it[0] in ("button", "listbox", "option", "searchbox") and not it[1]]
    hold(not nameless, f"without a name: {nameless}")


def search(browser, plan):
    wanted = plan["tensors"][len(plan["tensors"]) // 2]
    browser.type("#search", wanted["name"])
    found = browser.run("return document.getElementById('found').textContent")
    hold(found.startswith("1 of "), f"{wanted['name']}: {found}")
    says(browser, wanted, plan)
    shown = browser.run("return document.querySelectorAll('[data-row]:not([hidden])').length")
    hold(shown == 1, f"{shown} rows are left")
    browser.type("#search", "no such tensor")
    hold(browser.run("return document.getElementById('found').textContent").startswith("0 of "), "something was found")
    browser.type("#search", str(plan["tensors"][3]["tensor"]))
    says(browser, plan["tensors"][3], plan)


def zoom(browser):
    width = "return Number(document.getElementById('buffer-3').getAttribute('width'))"
    before = browser.run(width)
    browser.click(".main .tools button")
    hold(browser.run(width) > before * 1.3, "it does not zoom in")
    browser.run("document.querySelector('.main svg.map').focus()")
    browser.press("0")
    hold(abs(browser.run(width) - before) < 0.1, "it does not show all again")
    browser.press("ArrowRight", "Enter")
    hold(browser.run("return document.querySelector('.main svg.map').classList.contains('zoomed')"), "Enter does not zoom")
    browser.press("Escape")
    hold(abs(browser.run(width) - before) < 0.1, "Escape does not show all")


def colours(browser):
    ground = "return getComputedStyle(document.body).backgroundColor"
    media = lambda scheme: browser.devtools("Emulation.setEmulatedMedia",
                                            features=[{"name": "prefers-color-scheme", "value": scheme}])
    media("light")
    light = browser.run(ground)
    media("dark")
    dark = browser.run(ground)
    hold(light == "rgb(255, 255, 255)" and dark != light, f"light {light}, dark {dark}")
    browser.click(".theme")
    hold(browser.run(ground) == light, "the button does not change the theme")
    media("light")


def narrow(browser, path):
    browser.resize(390, 844)
    browser.open(path)
    wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    hold(wide <= 0, f"{path}: the page is {wide} pixels wider than the window")


def without_script(browser, path, plan):
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    browser.visit(path)
    text = browser.run("""return [document.querySelectorAll('#layers tbody tr').length,
        document.querySelectorAll('[data-row]').length, document.querySelectorAll('.main rect title').length,
        document.querySelectorAll('.tools').length,
        document.querySelector('.main [data-b]').getBoundingClientRect().width]""")
    browser.devtools("Emulation.setScriptExecutionDisabled", value=False)
    layers, rows, titles, tools, width = text
    hold(tools == 0, "the script has run")
    hold(layers == plan["operators"] and rows == titles >= 20 and width > 5, f"without a script: {text}")


def tiles(browser, pages):
    path, plan = pages.make("tiles", "plan", TILED, "--allow", "split,patch")
    browser.open(path)
    count = browser.run("return document.querySelectorAll('.main [data-b]').length")
    hold(count > 200, f"{count} buffers")
    groups = browser.run("return document.querySelectorAll('.main .group').length")
    rows = browser.run("return document.querySelectorAll('#layers tbody tr').length")
    hold(groups == len(plan["recipe"]["splits"]) and rows < plan["operators"], f"{groups} groups, {rows} rows")
    points = browser.run("return document.querySelectorAll('.front .point').length")
    hold(points == len(plan["front"]["points"]), f"{points} points")
    took = browser.run("""const button = document.querySelector('.main .tools button'), start = performance.now();
        for (let turn = 0; turn < 10; turn++) button.click();
        return performance.now() - start;""")
    browser.settle()
    hold(took < 500, f"ten zooms take {took} ms")
    quiet(browser, path)
    return path


def damage(browser, pages):
    path, report = pages.make("unsafe", "verify", MODEL, "--inputs", "1", "--kernels", "dsp-channels-outside", expected=1)
    browser.open(path)
    text = browser.run("return document.getElementById('witnesses').innerText")
    finding = report["replay"]["findings"][0]
    for part in (finding["writer_location"]["disassembly"], finding["access_location"]["disassembly"],
                 f"{finding['needed_displacement']:,}"):
        hold(part in text, f"{part!r} is not in {text!r}")
    hold(browser.run("return document.querySelectorAll('.main .damaged').length") >= 1, "no damage is marked")
    hold("UNSAFE" in browser.run("return document.querySelector('.verdict').innerText"), "it is not called unsafe")
    browser.type("#search", str(finding["subject"]["occupant"]["tensor"]))
    detail = browser.run(DETAIL)
    hold("Damaged" in detail and "store 0x" in detail and "load 0x" in detail, detail)
    layers = report["layers"]
    cells = browser.run("return [...document.querySelectorAll('#layers tbody tr')].map((it) => it.innerText)")
    hold(len(cells) == len(layers) >= 20, f"{len(cells)} layers")
    for cell, layer in zip(cells, layers):
        for known in (layer["instructions"], layer["cycles"]["total"], layer["stack_bytes"]):
            hold(known is None or number(known) in cell, f"{known} is not in {cell}")
    quiet(browser, path)
    return path


def program(browser, pages):
    """The page of a run: costs, overlaps, and where the buffers of the layers lie."""
    path, report = pages.make("run", "run", PROGRAM, "--inputs", "2")
    browser.open(path)
    rows = browser.run("return [...document.querySelectorAll('#layers tbody tr')].map((it) => it.innerText)")
    layers = report["layers"]
    hold(len(rows) == len(layers) == 6, f"{len(rows)} rows for {len(layers)} layers")
    for row, layer in zip(rows, layers):
        hold(layer["name"] in row and number(layer["end"] - layer["begin"]) in row, f"{layer['name']}: {row}")
    rows = browser.run("return [...document.querySelectorAll('#overlaps tbody tr')].map((it) => it.innerText)")
    pairs = [(layer, pair) for layer in layers for pair in layer["pairs"]]
    hold(len(rows) == len(pairs) >= 6, f"{len(rows)} rows for {len(pairs)} pairs")
    for row, (layer, pair) in zip(rows, pairs):
        hold(layer["name"] in row and number(pair["safe_overlap_bytes"]) in row, f"{layer['name']}: {row}")
        for access in (pair["binding"] or {}).values():
            hold(f"{access['pc']:#010x}" in row, f"{access} is not in {row}")
    tensors = [tensor for layer in layers for tensor in layer["tensors"] if tensor["role"] in ("input", "output")]
    blocks = browser.run("return JSON.parse(document.getElementById('page').textContent).maps[0].buffers")
    lowest = min(tensor["address"] for tensor in tensors)
    known = {(tensor["address"] - lowest, tensor["size_bytes"]) for tensor in tensors}
    hovered = 0
    for index, block in enumerate(blocks):
        hold((block["offset"], block["size_bytes"]) in known, f"{block} is no buffer of a layer")
        place = middle(browser, f"#buffer-{index}")
        if place:
            browser.point(*place)
            text = browser.run(DETAIL)
            hold(f"{number(block['size_bytes'])} bytes" in text and block["name"].split(" = ")[0] in text, text)
            hovered += 1
    hold(hovered >= 4, f"only {hovered} buffers could be pointed at")
    quiet(browser, path)
    return path


def saved(browser, pages):
    """The page of savings: a row for each way of each model."""
    path, report = pages.make("savings", "savings", "zoo:liberis_lane_figure_1:int8", MODEL)
    browser.open(path)
    text = browser.run("return document.querySelector('main').innerText")
    models = report["models"]
    hold(len(models) == 2, f"{len(models)} models")
    for model in models:
        hold(model["name"] in text and len(model["rows"]) >= 6, f"{model['name']} is not in {text[:400]}")
        for row in model["rows"]:
            hold(row["added"] in text and number(row["arena_bytes"]) in text, f"{row} is not there")
    hold(browser.run("return document.querySelectorAll('svg.map').length") == 0, "there is a map")
    quiet(browser, path)
    return path


def hostile(browser, pages):
    path, _ = pages.make("hostile", "plan", pages.hostile_model())
    browser.open(path)
    hold("dmo-trace" in browser.run("return document.title"), "a name has become a script")
    hold(browser.run("return document.querySelectorAll('img, b, [onerror], [onfocus]').length") == 0, "markup from a name")
    hold(browser.run("return document.scripts.length") == 2, "there are further scripts")
    names = browser.run("return JSON.parse(document.getElementById('page').textContent).maps[0].buffers.map((it) => it.name)")
    hit = [name for name in names if any(name[:8] == it[:8] for it in HOSTILE)]
    hold(len(hit) >= 3, f"the names are not there: {names}")
    browser.type("#search", hit[0])
    hold(hit[0] in browser.run(DETAIL), "the name is not shown as it is")
    hold(browser.run("return document.querySelectorAll('img, b').length") == 0, "markup from a name")
    quiet(browser, path)


def pictures(browser, folder, paths):
    folder.mkdir(parents=True, exist_ok=True)
    for path in paths:
        for name, width, scheme in (("light", 1400, "light"), ("dark", 1400, "dark"), ("narrow", 390, "light")):
            browser.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            browser.resize(width, 900)
            browser.open(path)
            browser.run("document.querySelector('.main svg.map')?.focus({ preventScroll: true })")
            browser.press("ArrowRight", "ArrowRight", "ArrowRight")
            browser.screenshot(folder / f"{path.stem}-{name}.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path, metavar="DIR")
    arguments = parser.parse_args()
    start = time.monotonic()
    browser = Browser()
    try:
        with tempfile.TemporaryDirectory() as folder:
            pages = Pages(arguments.program.resolve(), pathlib.Path(folder))
            path, plan = pages.make("plan", "plan", MODEL)
            pointer_and_keys(browser, path, plan)
            screen_reader(browser, plan)
            search(browser, plan)
            browser.open(path)
            zoom(browser)
            colours(browser)
            narrow(browser, path)
            without_script(browser, path, plan)
            browser.resize(1400, 1000)
            others = [tiles(browser, pages), damage(browser, pages), program(browser, pages)]
            tables = saved(browser, pages)
            hostile(browser, pages)
            for page in (others[-1], tables):
                narrow(browser, page)
            if arguments.screenshots:
                pictures(browser, arguments.screenshots, [path, *others, tables])
    finally:
        browser.close()
    hold(checks > 300, f"only {checks} checks")
    print(f"{checks} checks in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
