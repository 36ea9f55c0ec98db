// Both error rates at every threshold, with a slider under them. Everything that the slider can show
// was counted before and lies in `data`, so a move needs no answer from the server; the server is
// told where the slider came to rest, for the list of claims that flip.
//
// Every string in `data` becomes a text node.

const SVG = "http://www.w3.org/2000/svg";
// A short window keeps room for the claims that flip, which stand below.
const WIDTH = 800, HEIGHT = window.innerHeight < 720 ? 172 : 262, LEFT = 52, RIGHT = 14, TOP = 22, BOTTOM = 38;
const REST_MILLISECONDS = 140;
const states = new WeakMap();

function draw(tag, className, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  if (className) node.setAttribute("class", className);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const across = (threshold) => LEFT + threshold * (WIDTH - LEFT - RIGHT);
const up = (percent) => HEIGHT - BOTTOM - (percent / 100) * (HEIGHT - TOP - BOTTOM);

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector("#thresholds");
  let state = states.get(parentElement);
  if (!state) {
    state = { generation: null, at: 0 };
    states.set(parentElement, state);
    build(root, state);
  }
  state.tell = (at) => setTriggerValue("moved", at);
  const json = JSON.stringify(data);
  if (state.json === json) return;
  state.json = json;
  state.data = data;
  // The server's word on where the slider stands counts only when it moved it itself: otherwise it
  // would pull the slider back under the hand.
  if (state.generation !== data.generation) {
    state.generation = data.generation;
    state.at = data.chosen;
  }
  state.slider.max = String(data.thresholds.length - 1);
  state.slider.value = String(state.at);
  plot(state);
  show(state);
}

function build(root, state) {
  const left = el("section", "plot");
  state.title = el("p", "title");
  state.legend = el("div", "legend");
  state.svg = draw("svg", "", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  state.slider = el("input", null, null, { type: "range", min: "0", step: "1", "aria-label": "Threshold" });
  state.slider.addEventListener("input", () => move(state, Number(state.slider.value)));
  const hold = (event) => { if (event.buttons & 1) point(state, event); };
  state.svg.addEventListener("pointerdown", (event) => { state.svg.setPointerCapture(event.pointerId); point(state, event); });
  state.svg.addEventListener("pointermove", hold);
  const slide = el("div", "slide");
  slide.append(state.slider);
  state.chosen = el("p", "chosen", null, { "aria-live": "polite" });
  left.append(state.title, state.legend, state.svg, slide, state.chosen);
  const right = el("section");
  state.figures = el("div", "figures");
  state.note = el("p", "note");
  state.basis = el("p");
  const fold = el("details", "note");
  fold.append(el("summary", null, "What these figures rest on"), state.basis);
  right.append(state.figures, state.note, fold);
  root.replaceChildren(left, right);
}

// ---------------------------------------------------------------- moving

function point(state, event) {
  const box = state.svg.getBoundingClientRect();
  const threshold = (((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
  let best = 0;
  state.data.thresholds.forEach((each, at) => {
    if (Math.abs(each - threshold) < Math.abs(state.data.thresholds[best] - threshold)) best = at;
  });
  state.slider.value = String(best);
  move(state, best);
}

function move(state, at) {
  if (at === state.at) return;
  state.at = at;
  show(state);
  clearTimeout(state.resting);
  state.resting = setTimeout(() => state.tell(at), REST_MILLISECONDS);
}

// ---------------------------------------------------------------- the curves

function plot(state) {
  const { data, svg } = state;
  state.title.textContent = data.title;
  svg.setAttribute("aria-label", data.alt);
  svg.replaceChildren();
  for (let percent = 0; percent <= 100; percent += 20) {
    svg.append(draw("line", "grid", { x1: LEFT, x2: WIDTH - RIGHT, y1: up(percent), y2: up(percent) }));
    svg.append(draw("text", "", { x: LEFT - 8, y: up(percent) + 4, "text-anchor": "end" }, `${percent} %`));
  }
  for (let tick = 0; tick <= 10; tick += 1) {
    svg.append(draw("text", "", { x: across(tick / 10), y: HEIGHT - BOTTOM + 17, "text-anchor": "middle" }, (tick / 10).toFixed(1)));
  }
  svg.append(draw("text", "", { x: across(0.5), y: HEIGHT - 4, "text-anchor": "middle" }, "threshold of the support probability (0 to 1)"));
  svg.append(draw("text", "", { x: 2, y: 11 }, "share of claims (%)"));
  for (const series of data.series) {
    const band = series.low.map((low, at) => [at, low, series.high[at]]).filter(([, low]) => low !== null);
    if (band.length) {
      const outline = [...band.map(([at, , high]) => [at, high]), ...band.reverse().map(([at, low]) => [at, low])];
      svg.append(draw("polygon", `band kind-${series.kind}`, { points: path(data, outline) }));
    }
    const line = series.values.map((value, at) => [at, value]).filter(([, value]) => value !== null);
    svg.append(draw("polyline", `curve kind-${series.kind}${series.other ? " other" : ""}`, { points: path(data, line) }));
  }
  const used = across(data.thresholds[data.current]);
  svg.append(draw("line", "used", { x1: used, x2: used, y1: TOP - 4, y2: HEIGHT - BOTTOM }));
  svg.append(draw("text", "", { x: used, y: TOP - 8, "text-anchor": used > WIDTH * 0.8 ? "end" : "middle" }, `in use ${data.words[data.current]}`));
  state.line = draw("line", "now", { y1: TOP - 4, y2: HEIGHT - BOTTOM });
  svg.append(state.line);
  state.points = data.series.filter((series) => !series.other).map((series) => {
    const dot = draw("circle", `point kind-${series.kind}`, { r: 6.5 });
    const label = draw("text", `point-label kind-${series.kind}`);
    svg.append(dot, label);
    return { series, dot, label };
  });
  state.legend.replaceChildren(...data.series.map(legendEntry));
}

function path(data, pairs) {
  return pairs.map(([at, percent]) => `${across(data.thresholds[at]).toFixed(1)},${up(percent).toFixed(1)}`).join(" ");
}

function legendEntry(series) {
  const entry = el("span");
  const sample = draw("svg", "", { viewBox: "0 0 34 12", "aria-hidden": "true" });
  sample.append(draw("polyline", `curve kind-${series.kind}${series.other ? " other" : ""}`, { points: "1,6 33,6" }));
  entry.append(sample, el("span", null, series.name));
  return entry;
}

// ---------------------------------------------------------------- where it stands

function show(state) {
  const { data, at } = state;
  const x = across(data.thresholds[at]);
  state.line.setAttribute("x1", x);
  state.line.setAttribute("x2", x);
  const here = state.points.map(({ series }) => series.values[at]);
  const lowest = Math.min(...here.filter((value) => value !== null));
  // Two labels that would overlap: the lower one goes under its point.
  const crowded = here.length === 2 && Math.abs(up(here[0]) - up(here[1])) < 22;
  for (const { series, dot, label } of state.points) {
    const value = series.values[at];
    dot.style.display = label.style.display = value === null ? "none" : "";
    if (value === null) continue;
    const right = x < WIDTH * 0.82;
    dot.setAttribute("cx", x);
    dot.setAttribute("cy", up(value));
    label.setAttribute("x", x + (right ? 11 : -11));
    label.setAttribute("text-anchor", right ? "start" : "end");
    const under = crowded && value === lowest && series === state.points[here.lastIndexOf(lowest)].series;
    label.setAttribute("y", under ? Math.min(HEIGHT - BOTTOM + 13, up(value) + 17) : Math.max(TOP + 8, up(value) - 7));
    label.textContent = `${value.toFixed(1)} %`;
  }
  state.slider.setAttribute("aria-valuetext", `threshold ${data.words[at]}`);
  state.chosen.replaceChildren(el("span", null, "Threshold"), el("b", null, data.words[at]), el("span", "muted small", data.place[at]));
  state.figures.replaceChildren(...data.figures.map((figure) => {
    const box = el("div", `figure${figure.kind ? ` kind-${figure.kind}` : ""}`, null, { "data-figure": figure.id });
    box.append(el("span", "name", figure.name), el("span", "value", figure.values[at]), el("span", "more", figure.more[at]));
    if (figure.other) box.append(el("span", "other", figure.other));
    return box;
  }));
  state.note.textContent = data.note;
  state.basis.textContent = data.basis;
}
