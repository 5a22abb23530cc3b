// The page's own script: hovering, keys, search and zoom. All text is set as text, never as markup.
"use strict";
(() => {
  const page = JSON.parse(document.getElementById("page").textContent);
  const number = (value) => Number(value).toLocaleString("en-US");
  const SVG = "http://www.w3.org/2000/svg";
  const EDGE = { left: 72, right: 12, top: 8, bottom: 42 };

  function element(name, properties = {}, ...children) {
    const made = document.createElement(name);
    Object.assign(made, properties);
    made.append(...children);
    return made;
  }

  function set(target, attributes) {
    for (const [key, value] of Object.entries(attributes)) target.setAttribute(key, value);
    return target;
  }

  function shape(name, attributes, text) {
    const made = set(document.createElementNS(SVG, name), attributes);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  const end = (buffer) => buffer.offset + buffer.size_bytes;
  const together = (one, other) => one.steps[0] <= other.steps[1] && other.steps[0] <= one.steps[1];

  const address = (value) => `0x${value.toString(16).padStart(8, "0")}`;

  // What a step is called: of a map of layers, layer n runs in step n.
  const stepNoun = (map) => (!map.of_layers ? "step" : map.buffers.some((it) => it.tensors.length) ? "operator" : "layer");

  const running = (map, step) => map.operators[map.of_layers ? step : step - 1];

  function operatorAt(map, step) {
    if (map.of_layers) {
      const layer = running(map, step);
      return layer && `${stepNoun(map)} ${layer[0]} ${map.kinds[layer[1]]}`;
    }
    const known = running(map, step);
    if (step === 0) return "the application stores the inputs";
    if (!known) return "after the last operator";
    const [operator, kind, origin] = known;
    return `operator ${operator} ${map.kinds[kind]}` + (operator === origin ? "" : `, part of ${origin}`);
  }

  function title(buffer) {
    if (buffer.scratch_of !== null) return `Scratch buffer of ${page.traced && !page.maps[0].buffers.some((it) => it.tensors.length) ? "layer" : "operator"} ${buffer.scratch_of}`;
    const [one, ...others] = buffer.tensors;
    if (one === undefined) return `Buffer ${buffer.name}`;
    return `Tensor ${one}${others.length ? ` = ${others.slice(0, 7).join(", ")}` : ""}`;
  }

  function sentence(buffer, map) {
    const [first, last] = buffer.steps;
    const shared = map.shared.filter((area) => area.buffers.includes(map.buffers.indexOf(buffer)));
    const bytes = shared.map((area) => area.bytes[1] - area.bytes[0]);
    const [memory, offset] = placeOf(map, buffer);
    return `${title(buffer)}, ${buffer.name}, ${number(buffer.size_bytes)} bytes at offset ${number(offset)}${memory ? ` of ${memory.name}` : ""}, `
      + `${stepNoun(map)}s ${first} to ${last}` + (buffer.is_peak ? ", holds the arena up" : "")
      + (bytes.length ? `, overlaps by up to ${number(Math.max(...bytes))} bytes` : "");
  }

  // The memory that a buffer lies in, where the arena is several, and its offset there.
  function placeOf(map, buffer) {
    const memory = (map.regions ?? []).find(({ bytes }) => bytes[0] <= buffer.offset && buffer.offset < bytes[1]);
    return [memory, buffer.offset - (memory?.bytes[0] ?? 0)];
  }

  // The closest buffers above and below that are in use at the same time.
  function neighbours(map, buffer) {
    let above, below;
    for (const other of map.buffers) {
      if (other === buffer || !together(other, buffer)) continue;
      if (other.offset >= end(buffer) && !(above?.offset <= other.offset)) above = other;
      if (end(other) <= buffer.offset && !(below && end(below) >= end(other))) below = other;
    }
    return { above, below };
  }

  const detail = document.getElementById("detail");
  const hint = [...(detail?.childNodes ?? [])];

  function facts(rows) {
    const list = element("dl");
    for (const [name, value] of rows) {
      if (value !== undefined && value !== "") list.append(element("dt", { textContent: name }), element("dd", { textContent: value }));
    }
    return list;
  }

  function overlapFacts(map, buffer, area) {
    const index = map.buffers.indexOf(buffer);
    const other = map.buffers[area.buffers.find((it) => it !== index)];
    const section = element("section", {}, element("strong", {
      textContent: `${area.is_damaged ? "Damaged: shares" : "Shares"} ${number(area.bytes[1] - area.bytes[0])} bytes with ${title(other)}`,
    }));
    const [bytes, steps] = [area.bytes, area.steps].map(([from, to]) => `${number(from)} to ${number(to)}`);
    section.append(facts([["name", other.name], ["bytes", bytes], [`${stepNoun(map)}s`, steps]]));
    for (const fact of area.overlaps) {
      section.append(facts([
        ["operator", `${fact.operator}, tensor ${fact.input} to ${fact.output}`],
        ["O_s", fact.safe_overlap_bytes === null ? "none" : `${number(fact.safe_overlap_bytes)} bytes`],
        ["must start", fact.needed_bytes === null ? undefined : `${number(fact.needed_bytes)} bytes above the output`],
        ["starts", fact.distance_bytes === null ? undefined : `${number(fact.distance_bytes)} bytes above it`],
        ["known", fact.source],
        ...fact.binding.map((text, place) => [place === 0 ? "limited by" : "", text]),
      ]));
    }
    return section;
  }

  // What the layers' inputs and outputs may share, where the map is of layers.
  function pairFacts(map, index) {
    const found = (map.of_layers?.pairs ?? []).filter(({ buffers }) => buffers.includes(index));
    return found.flatMap(({ layer, pair }) => {
      const [of, known] = [page.traced[layer], page.traced[layer]?.pairs[pair]];
      if (!known) return [];
      return element("section", {}, element("strong", { textContent: `Layer ${of.layer} ${of.name}` }), facts([
        ["pair", `${known.input} to ${known.output}`],
        ["O_s", known.safe_overlap_bytes === null ? "none" : `${number(known.safe_overlap_bytes)} bytes, ${known.percent} of the smaller`],
        ["must start", known.needed_bytes === null ? undefined : `${number(known.needed_bytes)} bytes above the output`],
        ["in place", known.in_place ? "is safe, both at one address" : undefined],
        ["because", known.refusal],
        ...known.binding.map((access, place) => [place === 0 ? "limited by" : "", accessText(access)]),
      ]));
    });
  }

  function accessText({ kind, address, function: name, source, code, bytes }) {
    const place = [`${kind} ${address}`, name && ` in ${name}`, source && `, ${source}`, code && `: ${code}`].filter(Boolean).join("");
    return `${place}, ${bytes[1] - bytes[0] === 1 ? `byte ${number(bytes[0])}` : `bytes ${number(bytes[0])} to ${number(bytes[1] - 1)}`}`;
  }

  function describe(map, index) {
    if (!detail) return;
    if (index === null) return detail.replaceChildren(...hint);
    const buffer = map.buffers[index];
    const { above, below } = neighbours(map, buffer);
    const next = (other, gap) => (other ? `${title(other)}, ${gap ? `${number(gap)} bytes away` : "touches"}` : undefined);
    const areas = map.shared.filter((area) => area.buffers.includes(index));
    const [memory, offset] = placeOf(map, buffer);
    detail.replaceChildren(
      element("h3", { textContent: title(buffer) }),
      facts([
        ["name", buffer.name],
        [map.of_layers && !buffer.tensors.length ? "type" : "shape", buffer.shape],
        ["size", `${number(buffer.size_bytes)} bytes`],
        ["memory", memory && `${memory.name}, ${memory.access_cycles === 1 ? "1 cycle" : `${number(memory.access_cycles)} cycles`} an access`],
        ["offset", `${number(offset)} to ${number(offset + buffer.size_bytes)}`],
        ["address", map.of_layers && address(map.of_layers.start + buffer.offset)],
        [`${stepNoun(map)}s`, `${buffer.steps[0]} to ${buffer.steps[1]}`],
        ["used as", map.of_layers?.uses[index]],
        ["from", operatorAt(map, buffer.steps[0])],
        ["until", operatorAt(map, buffer.steps[1])],
        ["above", next(above, above && above.offset - end(buffer))],
        ["below", next(below, below && buffer.offset - end(below))],
        ["peak", buffer.is_peak ? "holds the arena up" : undefined],
      ]),
      ...areas.slice(0, 12).map((area) => overlapFacts(map, buffer, area)),
      ...pairFacts(map, index).slice(0, 12),
    );
    if (areas.length > 12) detail.append(element("p", { textContent: `and ${areas.length - 12} more overlaps` }));
  }

  // What part of each view is shown: steps from, to; bytes from, to. Maps of one view move together.
  const views = {};
  const pictures = [...document.querySelectorAll("svg.map")].map((svg) => new Picture(svg));
  let chosen = null;

  function Picture(svg) {
    this.svg = svg;
    this.map = page.maps[Number(svg.dataset.map)];
    this.blocks = [...svg.querySelectorAll("[data-b]")];
    this.areas = [...svg.querySelectorAll("[data-a]")];
    this.view = (views[svg.dataset.view] ??= { whole: [0, this.map.steps, 0, Number(svg.dataset.most) * 1.02], pictures: [] });
    this.view.now = [...this.view.whole];
    this.view.pictures.push(this);
    this.order = this.map.buffers.map((_, index) => index).sort((a, b) => {
      const [one, other] = [this.map.buffers[a], this.map.buffers[b]];
      return one.steps[0] - other.steps[0] || one.offset - other.offset;
    });
  }

  function ticks(from, to, most) {
    const unit = 10 ** Math.floor(Math.log10(Math.max(1, (to - from) / most)));
    const step = [1, 2, 5, 10].map((it) => it * unit).find((it) => (to - from) / it <= most) ?? 10 * unit;
    const found = [];
    for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) found.push(tick);
    return found;
  }

  function short(text, room, number = "") {
    const characters = Math.floor((room - 14) / 6.6);
    const first = text.split(";")[0];
    const fits = [text, first].find((it) => it.length <= characters);
    if (fits !== undefined) return fits;
    return characters >= 10 ? `…${first.slice(1 - characters)}` : number.length <= characters ? number : "";
  }

  // Labels with room of their own, beside what is shared if they can be: in the middle of their blocks, else elsewhere in them.
  function apart(labels, areas) {
    const made = [];
    for (const { left, top, wide, tall, half, text } of labels) {
      const places = [0.5, 0.25, 0.75, 0.12, 0.88].flatMap((down) => [0.5, 0.25, 0.75].map((across) => [left + wide * across, top + tall * down]));
      const inside = places.filter(([x, y]) => y - top >= 7 && top + tall - y >= 7 && x - left >= half && left + wide - x >= half);
      const free = inside.filter(([x, y]) => made.every((it) => Math.abs(it.x - x) > it.half + half || Math.abs(it.y - y) > 13));
      const isClear = ([x, y]) => areas.every(([from, to, high, low]) => x + half <= from || x - half >= to || y + 7 <= high || y - 7 >= low);
      const place = free.find(isClear) ?? free[0];
      if (place) made.push({ x: place[0], y: place[1], half, text });
    }
    return made.map(({ x, y, text }) => shape("text", { x, y: y + 4 }, text));
  }

  Picture.prototype.draw = function (zoomed) {
    const { svg, map, view } = this;
    svg.classList.toggle("zoomed", zoomed);
    const width = Math.max(280, svg.clientWidth);
    const height = svg.dataset.view === "main" ? Math.max(300, Math.min(520, width * 0.5)) : Math.max(240, Math.min(380, width * 0.6));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const [inner, tall] = [width - EDGE.left - EDGE.right, height - EDGE.top - EDGE.bottom];
    const [from, to, low, high] = view.now;
    const x = (step) => ((step - from) / (to - from)) * inner;
    const y = (bytes) => tall - ((bytes - low) / (high - low)) * tall;
    this.inner = inner;
    this.tall = tall;
    set(svg.querySelector(".plot"), { width: inner, height: tall });
    const place = (block, steps, bottom, top) => {
      const [left, right] = [x(steps[0]), x(steps[1] + 1)];
      set(block, { x: left, y: y(top), width: Math.max(0.5, right - left), height: Math.max(0.5, y(bottom) - y(top)) });
      return [left, right, y(top), y(bottom)];
    };
    for (const band of svg.querySelectorAll(".regions [data-r]")) {
      const [low, top] = map.regions[band.dataset.r].bytes.map(y);
      set(band, band.tagName === "rect" ? { y: top, width: inner, height: Math.max(0, low - top) } : { x: inner - 4, y: Math.max(0, top) + 12 });
    }
    const labels = [];
    for (const block of this.blocks) {
      const buffer = map.buffers[block.dataset.b];
      const [left, right, top, bottom] = place(block, buffer.steps, buffer.offset, end(buffer));
      const [a, b, c, d] = [Math.max(0, left), Math.min(inner, right), Math.max(0, top), Math.min(tall, bottom)];
      const text = d - c >= 14 ? short(buffer.name, b - a, String(buffer.tensors[0] ?? "")) : "";
      if (text) labels.push({ text, left: a, top: c, wide: b - a, tall: d - c, half: text.length * 3.3 });
    }
    const areas = this.areas.map((block) => place(block, map.shared[block.dataset.a].steps, ...map.shared[block.dataset.a].bytes));
    svg.querySelector(".labels").replaceChildren(...apart(labels, areas));
    set(svg.querySelector(".end"), { x2: inner, y1: y(map.arena_bytes), y2: y(map.arena_bytes) });
    svg.querySelector(".axes").replaceChildren(...this.axes(x, y));
  };

  Picture.prototype.axes = function (x, y) {
    const [from, to, low, high] = this.view.now;
    const { map, inner, tall } = this;
    const bottom = EDGE.top + tall;
    const made = [];
    for (const tick of ticks(low, high, 8)) {
      made.push(shape("line", { class: "grid", x1: EDGE.left, x2: EDGE.left + inner, y1: EDGE.top + y(tick), y2: EDGE.top + y(tick) }));
      made.push(shape("text", { class: "number", x: EDGE.left - 6, y: EDGE.top + y(tick) + 4 }, number(tick)));
    }
    const one = x(1) - x(0);
    const every = Math.max(1, ...ticks(0, to - from, inner / 46).slice(1, 2));
    // Operators have the model's numbers, which steps do not have in another order or in tiles.
    const named = one > 90;
    const name = (step) => {
      const [, kind, origin] = running(map, step) ?? [];
      if (kind === undefined) return step === 0 ? "inputs" : "";
      return `${origin} ${map.kinds[kind]}`.slice(0, one / 6.6);
    };
    for (let step = Math.max(0, Math.ceil(from / every) * every); step < Math.min(to, map.steps); step += every) {
      const text = named ? name(step) : `${step}`;
      const middle = EDGE.left + x(step + 0.5);
      if (middle < EDGE.left + inner) made.push(shape("text", { class: "step", x: middle, y: bottom + 15 }, text));
    }
    for (const group of map.groups) {
      const [left, right] = [Math.max(0, x(group.steps[0])), Math.min(inner, x(group.steps[1] + 1))];
      if (right <= left) continue;
      made.push(shape("rect", { class: "group", x: EDGE.left + left, y: bottom + 20, width: right - left, height: 18 }));
      const most = Math.floor((right - left - 6) / 6.6);
      const text = group.title.length <= most ? group.title : most >= 10 ? `${group.title.slice(0, most - 1)}…` : "";
      if (text) made.push(shape("text", { class: "step", x: EDGE.left + (left + right) / 2, y: bottom + 33 }, text));
    }
    if (!map.groups.length) made.push(shape("text", { class: "step quiet", x: EDGE.left + inner / 2, y: bottom + 34 }, named && !map.of_layers ? "operator" : stepNoun(map)));
    return made;
  };

  const redraw = (view) => {
    view.waiting ??= requestAnimationFrame(() => {
      view.waiting = undefined;
      const zoomed = view.now.some((value, index) => value !== view.whole[index]);
      for (const picture of view.pictures) picture.draw(zoomed);
    });
  };

  // Shows a stretch of what there is, not less than two steps and 64 bytes, and nothing beyond.
  function show(view, [from, to, low, high]) {
    const within = (start, stop, least, first, last) => {
      const length = Math.min(last - first, Math.max(least, stop - start));
      const begin = Math.min(Math.max(first, (start + stop - length) / 2), last - length);
      return [begin, begin + length];
    };
    const [first, last, bottom, top] = view.whole;
    view.now = [...within(from, to, 2, first, last), ...within(low, high, 64, bottom, top)];
    redraw(view);
  }

  function zoom(view, factor, at = [0.5, 0.5], onlySteps = false) {
    const [from, to, low, high] = view.now;
    const [step, byte] = [from + (to - from) * at[0], low + (high - low) * at[1]];
    const up = onlySteps ? 1 : factor;
    show(view, [step - (step - from) * factor, step + (to - step) * factor, byte - (byte - low) * up, byte + (high - byte) * up]);
  }

  function mark(picture, index) {
    const buffer = index === null ? null : picture.map.buffers[index];
    const near = buffer ? Object.values(neighbours(picture.map, buffer)) : [];
    for (const other of pictures) {
      for (const block of other.blocks) {
        const candidate = other.map.buffers[block.dataset.b];
        const same = buffer !== null && candidate.tensors.some((it) => buffer.tensors.includes(it));
        block.classList.toggle("chosen", candidate === buffer);
        block.classList.toggle("same", same && candidate !== buffer);
        block.classList.toggle("near", other === picture && near.includes(candidate));
      }
    }
    describe(picture.map, index);
  }

  function choose(picture, index) {
    chosen = index === null ? null : { picture, index };
    mark(picture, index);
    for (const other of pictures) {
      for (const block of other.blocks) block.setAttribute("aria-selected", other === picture && Number(block.dataset.b) === index);
      other.svg.removeAttribute("aria-activedescendant");
    }
    if (index !== null) picture.svg.setAttribute("aria-activedescendant", picture.blocks[index].id);
    for (const row of document.querySelectorAll("[data-row]")) {
      row.classList.toggle("selected", picture.map === page.maps[0] && Number(row.dataset.row) === index);
    }
  }

  const restore = (picture) => (chosen ? mark(chosen.picture, chosen.index) : mark(picture, null));

  function zoomTo(picture, index) {
    const buffer = picture.map.buffers[index];
    const [margin, around] = [Math.max(1, (buffer.steps[1] - buffer.steps[0] + 1) * 0.5), buffer.size_bytes * 0.5];
    show(picture.view, [buffer.steps[0] - margin, buffer.steps[1] + 1 + margin, buffer.offset - around, end(buffer) + around]);
  }

  function key(picture, event) {
    const { map, order, view } = picture;
    const current = chosen?.picture === picture ? chosen.index : null;
    const place = current === null ? -1 : order.indexOf(current);
    const beside = (side) => map.buffers.indexOf(neighbours(map, map.buffers[current])[side] ?? map.buffers[current]);
    const moves = {
      ArrowRight: () => choose(picture, order[Math.min(place + 1, order.length - 1)]),
      ArrowLeft: () => choose(picture, order[Math.max(place - 1, 0)]),
      ArrowUp: () => choose(picture, current === null ? order[0] : beside("above")),
      ArrowDown: () => choose(picture, current === null ? order[0] : beside("below")),
      Home: () => choose(picture, order[0]),
      End: () => choose(picture, order[order.length - 1]),
      Enter: () => current !== null && zoomTo(picture, current),
      Escape: () => { choose(picture, null); show(view, view.whole); },
      "0": () => show(view, view.whole),
      "+": () => zoom(view, 0.6),
      "-": () => zoom(view, 1 / 0.6),
    };
    const move = moves[event.key === "=" ? "+" : event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || !move) return;
    event.preventDefault();
    move();
  }

  function listen(picture) {
    const { svg, view } = picture;
    set(svg, { role: "listbox", tabindex: 0 });
    svg.addEventListener("keydown", (event) => key(picture, event));
    svg.addEventListener("focus", () => chosen?.picture !== picture && picture.order.length && choose(picture, picture.order[0]));
    svg.addEventListener("pointerover", (event) => {
      const block = event.target.closest("[data-b]");
      if (block) mark(picture, Number(block.dataset.b));
    });
    svg.addEventListener("pointerleave", () => restore(picture));
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = svg.getBoundingClientRect();
      const at = [(event.clientX - box.left - EDGE.left) / picture.inner, 1 - (event.clientY - box.top - EDGE.top) / picture.tall];
      zoom(view, Math.exp(event.deltaY * 0.004), at, event.shiftKey);
    }, { passive: false });
    let drag = null;
    svg.addEventListener("pointerdown", (event) => { drag = { at: [event.clientX, event.clientY], now: [...view.now], moved: false }; });
    addEventListener("pointermove", (event) => {
      if (!drag) return;
      const [right, down] = [event.clientX - drag.at[0], event.clientY - drag.at[1]];
      drag.moved ||= Math.abs(right) + Math.abs(down) > 4;
      if (!drag.moved) return;
      const [from, to, low, high] = drag.now;
      const [steps, bytes] = [(right / picture.inner) * (to - from), (down / picture.tall) * (high - low)];
      show(view, [from - steps, to - steps, low + bytes, high + bytes]);
    });
    addEventListener("pointerup", (event) => {
      const block = drag && !drag.moved && event.target.closest?.("[data-b]");
      drag = null;
      if (block && svg.contains(block)) choose(picture, Number(block.dataset.b));
    });
    picture.blocks.forEach((block, index) => {
      block.id ||= `map-${pictures.indexOf(picture)}-${index}`;
      set(block, { role: "option", "aria-selected": false, "aria-label": sentence(picture.map.buffers[index], picture.map) });
      block.querySelector("title")?.remove();
    });
    const acts = [["+", "Zoom in", () => zoom(view, 0.6)], ["−", "Zoom out", () => zoom(view, 1 / 0.6)], ["⟲", "Show all", () => show(view, view.whole)]];
    svg.before(element("div", { className: "tools" }, ...acts.map(([textContent, ariaLabel, onclick]) =>
      element("button", { type: "button", textContent, ariaLabel, onclick }))));
  }

  function search() {
    const [field, found, main] = [document.getElementById("search"), document.getElementById("found"), pictures[0]];
    let matches = [], next = 0;
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      const fits = (buffer) => wanted !== "" && (buffer.name.toLowerCase().includes(wanted) || buffer.tensors.some((it) => String(it) === wanted));
      matches = main.order.filter((index) => fits(main.map.buffers[index]));
      next = 0;
      found.textContent = wanted === "" ? "" : `${number(matches.length)} of ${number(main.map.buffers.length)}`;
      for (const picture of pictures) {
        picture.svg.classList.toggle("searching", wanted !== "");
        for (const block of picture.blocks) block.classList.toggle("match", fits(picture.map.buffers[block.dataset.b]));
      }
      for (const row of document.querySelectorAll("[data-row]")) row.hidden = wanted !== "" && !fits(main.map.buffers[row.dataset.row]);
      if (matches.length) choose(main, matches[0]);
    });
    field.form.addEventListener("submit", (event) => {
      event.preventDefault();
      next = (next + 1) % matches.length;
      if (matches.length) choose(main, matches[next]);
    });
  }

  for (const picture of pictures) listen(picture);
  if (pictures.length) search();
  document.getElementById("buffers")?.addEventListener("click", (event) => {
    const row = event.target.closest("a") && event.target.closest("[data-row]");
    if (!row) return;
    event.preventDefault();
    choose(pictures[0], Number(row.dataset.row));
    pictures[0].svg.focus();
    pictures[0].svg.scrollIntoView({ block: "center" });
  });
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  document.querySelector("header").append(element("button", {
    type: "button", className: "theme", textContent: "Light or dark", onclick: () => { root.dataset.theme = isDark() ? "light" : "dark"; },
  }));
  const all = () => Object.values(views).forEach(redraw);
  addEventListener("resize", all);
  all();
})();
