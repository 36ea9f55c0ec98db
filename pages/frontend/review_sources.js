// The review view, the sources: a tab each, the output of one, and the search in all of them. Every
// string in `data` may come from an untrusted tool: it reaches the page as text alone.

const HITS_SHOWN = 500;
const TABS_ENOUGH = 6;

function drawSources(state) {
  const { data, parts } = state;
  parts.tabs = el("div", "tabs", null, { role: "tablist", "aria-label": "Sources, in the order of the calls" });
  parts.output = el("div", "pane-output");
  parts.head = el("div", "output-bar");
  parts.box = el("div", "output scroll own-arrows", null, { tabindex: "0", role: "tabpanel", "aria-label": "The source's output", "data-testid": "output" });
  if (!data.sources.length) {
    parts.sources.append(el("p", "muted nothing", "No tool output was captured."));
    return;
  }
  parts.row = el("div", "tab-row");
  parts.row.append(parts.tabs);
  parts.beside = el("div", "beside-box");
  parts.single = el("div", "single");
  parts.call = el("div", "call-line");
  parts.single.append(parts.head, parts.call, parts.box);
  const both = el("div", "both");
  both.append(parts.beside, parts.single);
  parts.sources.append(parts.row, both);
  parts.find = finder(state);
}

function finder(state) {
  const { data } = state;
  const box = el("div", "find");
  const input = el("input", null, null, { type: "search", placeholder: `Search all (${data.keys.search})`, "aria-label": "Search all sources", "aria-keyshortcuts": data.keys.search });
  const count = el("span", "find-count", null, { role: "status" });
  input.addEventListener("input", () => {
    state.query = input.value;
    state.found = false;
    state.at = 0;
    if (state.query && data.sources.some((source) => !state.data.texts[source.id])) state.tell("fetch", "*");
    const here = hitsIn(state, state.source).length;
    const first = here ? null : state.data.sources.find((source) => hitsIn(state, source.id).length);
    if (first) { state.source = first.id; state.raw = false; }
    drawTabs(state);
    drawOutput(state, true);
  });
  // What is typed here is a search, whatever keys the page listens to. A key's release is let through:
  // the key that led here was pressed outside, and would be taken for one that is held down.
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") { input.blur(); state.parts.box.focus(); }
    if (event.key === "Enter") step(state, event.shiftKey ? -1 : 1);
  });
  box.append(count, input);
  return { box, input, count };
}

// To the next place that was found, in this source or in one after it.
function step(state, by) {
  const ids = state.data.sources.map((source) => source.id);
  const here = hitsIn(state, state.source).length;
  const at = state.at + by;
  if (at >= 0 && at < here) state.at = at;
  else {
    const from = ids.indexOf(state.source);
    for (let n = 1; n <= ids.length; n += 1) {
      const id = ids[(from + by * n + ids.length * n) % ids.length];
      const found = hitsIn(state, id).length;
      if (found) { state.source = id; state.at = by > 0 ? 0 : found - 1; state.raw = false; break; }
    }
  }
  drawTabs(state);
  drawOutput(state, true);
}

function hitsIn(state, id) {
  const held = state.data.texts[id];
  if (state.found && held && !(state.raw && id === state.source)) {
    return state.data.values.places[id].map(([start, end]) => ({ start, end, kind: "hit" }));
  }
  if (!state.query.trim() || !held) return [];
  const text = state.raw && id === state.source && held.raw !== null ? held.raw : held.text;
  const words = state.query.trim().split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const found = [];
  for (const match of text.matchAll(new RegExp(words.join("\\s+"), "giu"))) {
    found.push({ start: match.index, end: match.index + match[0].length, kind: "hit" });
    if (found.length >= HITS_SHOWN) break;
  }
  return found;
}

// The claim's values, wherever a source has them; the page looks for them when they are first asked for.
function findValues(state) {
  state.raw = false;
  if (!state.data.values) { state.tell("fetch", "values"); return; }
  if (!state.found) Object.assign(state, { found: true, at: -1 });
  stepValues(state);
}

function stepValues(state) {
  step(state, 1);
  state.at = Math.max(0, state.at);
}

// Marks the selection in the open source, else the line of the place that was found.
function markPassage(state) {
  const held = state.data.texts[state.source];
  const body = state.parts.box.querySelector("[data-testid=source-text]");
  if (!held || state.raw || !body) return;
  const place = selectedIn(body) || lineOf(held.text, hitsIn(state, state.source)[state.at]);
  if (!place) {
    state.parts.find.count.textContent = "nothing is selected to mark";
    return;
  }
  const point = (at) => [...held.text.slice(0, at)].length; // Python counts code points
  state.sayOwner(JSON.stringify([state.source, point(place.start), point(place.end)]), "passage");
}

function selectedIn(body) {
  const root = body.getRootNode();
  const selection = root.getSelection ? root.getSelection() : document.getSelection();
  if (!selection || !selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!body.contains(range.startContainer) || !body.contains(range.endContainer)) return null;
  const before = document.createRange();
  before.setStart(body, 0);
  before.setEnd(range.startContainer, range.startOffset);
  const start = before.toString().length;
  return trimmed(body.textContent, start, start + range.toString().length);
}

function lineOf(text, hit) {
  if (!hit) return null;
  const end = text.indexOf("\n", hit.end);
  return trimmed(text, text.lastIndexOf("\n", hit.start - 1) + 1, end < 0 ? text.length : end);
}

function trimmed(text, start, end) {
  const cut = text.slice(start, end);
  const from = start + cut.length - cut.trimStart().length;
  const to = start + cut.trimEnd().length;
  return from < to ? { start: from, end: to } : null;
}

function drawTabs(state) {
  const { data, parts } = state;
  if (!data.sources.length) return;
  const left = parts.tabs.scrollLeft;
  const focused = parts.tabs.contains(parts.tabs.getRootNode().activeElement);
  parts.tabs.replaceChildren();
  for (const source of data.sources) {
    const chosen = source.id === state.source;
    const node = button(`tab${chosen ? " chosen" : ""}`, null, () => choose(state, source.id), {
      role: "tab", "aria-selected": String(chosen), tabindex: chosen ? "0" : "-1", title: [source.plain, source.identity, source.status_words, source.id].filter(Boolean).join("\n"), "data-source": source.id,
    });
    const top = el("span", "tab-top");
    // The same name as on its answer key; what the tool is called stands below where that is a number.
    top.append(el("span", "tab-name", source.name));
    if (source.key) top.append(el("kbd", null, source.key));
    const more = el("span", "tab-more");
    // First what decides how far an output can be trusted: whatever else there is no room for.
    if (source.status_short) more.append(el("span", "status", source.status_short));
    if (data.owners.includes(source.id)) more.append(el("span", "mine", "● yours"));
    if (data.named[source.id]) more.append(el("span", "theirs", data.named[source.id]));
    if (data.machine && data.machine.claim.routed === source.id) more.append(el("span", "theirs", "◉ verifier’s"));
    const found = hitsIn(state, source.id).length;
    if (found) more.append(el("span", "found", `${found}${found === HITS_SHOWN ? "+" : ""} found`));
    more.append(el("span", null, [source.name === source.plain ? "" : source.plain, source.identity].filter(Boolean).join(" · ")));
    node.append(top, more);
    parts.tabs.append(node);
  }
  parts.tabs.scrollLeft = left;
  drawPicker(state);
  const shown = parts.tabs.querySelector(".chosen");
  const frame = parts.tabs.getBoundingClientRect();
  const tab = shown.getBoundingClientRect();
  if (tab.left < frame.left) parts.tabs.scrollLeft -= frame.left - tab.left;
  if (tab.right > frame.right) parts.tabs.scrollLeft += tab.right - frame.right;
  if (focused) shown.focus();
}

// Beside the tabs: every source by name, for more of them than tabs can show, and the second pane.
function drawPicker(state) {
  const { data, parts } = state;
  for (const node of parts.row.querySelectorAll(".row-tools")) node.remove();
  if (data.sources.length < 2) return;
  const tools = el("div", "row-tools");
  if (data.sources.length > TABS_ENOUGH) tools.append(sourcePicker(pickerOptions(data), state.source, "All sources", (id) => choose(state, id)));
  tools.append(tool(state, state.left ? "One source" : "Side by side", data.keys.side_by_side, () => toggleSides(state)));
  parts.row.append(tools);
}

const pickerOptions = (data) => data.sources.map((source) => ({
  id: source.id, words: [source.name, source.name === source.plain ? "" : source.plain, source.identity].filter(Boolean).join(" · "),
}));

// A second source to the left of the open one: the credited one, once the verifier's view may be seen.
function toggleSides(state) {
  const others = state.data.sources.filter((source) => source.id !== state.source);
  state.left = state.left || !others.length ? null : others[0].id;
  drawTabs(state);
  drawOutput(state, true);
}

function drawBeside(state) {
  const { data, parts } = state;
  const source = data.sources.find((each) => each.id === state.left);
  const moved = parts.sources.classList.contains("beside") !== Boolean(source);
  for (const node of [parts.sources, parts.sources.parentElement]) node.classList.toggle("beside", Boolean(source));
  if (moved) showClaim(state); // its lines break anew
  parts.beside.replaceChildren();
  if (!source) return;
  const machine = data.machine && data.machine.claim;
  const credited = machine && machine.stated.includes(source.id);
  const pick = sourcePicker(pickerOptions(data), source.id, "The source on the left", (id) => { state.left = id; drawOutput(state, false); });
  const made = sidePane("left", [credited ? "The answer credits" : "Beside it", source.status_short].filter(Boolean).join(" · "), [pick]);
  parts.beside.append(made.pane);
  const held = data.texts[source.id];
  if (!held) { made.box.append(el("p", "muted", "Fetching this output …")); state.tell("fetch", source.id); return; }
  const body = el("pre", "verbatim");
  const place = machine && machine.sides && machine.sides.left === source.id ? machine.sides.left_place : null;
  appendMarked(body, { start: 0, text: held.text }, [...(machine ? machine.marks[source.id] || [] : []), ...(place ? [place] : [])]);
  made.box.append(body);
  openAtPlace(made.box);
}

function choose(state, id) {
  if (state.source === id) return;
  state.source = id;
  state.raw = false;
  state.at = 0;
  drawTabs(state);
  drawOutput(state, true);
}

function drawOutput(state, arriving) {
  const { data, parts } = state;
  const source = data.sources.find((each) => each.id === state.source);
  if (!source) return;
  drawBeside(state);
  const top = parts.box.scrollTop;
  const held = data.texts[source.id];
  const typing = parts.find.input.getRootNode().activeElement === parts.find.input;
  const title = el("div", "output-title");
  const named = el("div", "title-row");
  if (source.status_short) named.append(el("span", "status", source.status_short, { title: source.status_words, "data-testid": "status" }));
  named.append(el("h3", null, source.identity || source.plain, { title: source.tool }));
  const facts = [source.server && `server ${source.server}`, many(source.characters, "character"), source.note].filter(Boolean).join(" · ");
  title.append(named, el("span", "facts", facts, { title: [source.id, source.status_words, facts, source.uri].filter(Boolean).join("\n") }));
  const nodes = [title];
  if (held && held.raw !== null) {
    const toggle = el("div", "toggle", null, { role: "group", "aria-label": "How to show this output" });
    for (const [raw, words] of [[false, "Readable"], [true, "Raw"]]) {
      toggle.append(button(state.raw === raw ? "chosen" : "", words, () => showRaw(state, raw), { "aria-pressed": String(state.raw === raw), title: `Switch with ${data.keys.raw}` }));
    }
    nodes.push(toggle);
  }
  if (data.answerable) nodes.push(tool(state, "It is this one", data.keys.open_source, () => state.sayOwner(source.id)));
  // Once a source is named: the claim may rest on this one too.
  const mine = data.owners.includes(source.id);
  if (data.answerable && data.owners.length && (!mine || data.owners.length > 1)) {
    nodes.push(tool(state, mine ? "Not this" : "This too", data.keys.also_source, () => state.sayOwner(source.id, "also")));
  }
  if (held && !state.raw) {
    const mark = tool(state, "Mark", data.keys.mark, () => markPassage(state));
    mark.addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
    nodes.push(mark);
  }
  nodes.push(parts.find.box);
  parts.head.replaceChildren(...nodes);
  parts.call.replaceChildren(...callLine(source, false));
  if (typing) parts.find.input.focus();
  const box = parts.box;
  box.replaceChildren();
  if (source.status_words) box.append(el("p", "muted small", `${source.status_words[0].toUpperCase()}${source.status_words.slice(1)}.`));
  box.append(...callRead(source, data.machine ? data.machine.claim : null));
  if (!held) {
    box.append(el("p", "muted", "Fetching this output …"));
    state.tell("fetch", source.id);
    return;
  }
  const raw = state.raw && held.raw !== null;
  const text = raw ? held.raw : held.text;
  if (!text) box.append(el("p", "muted", "This output is empty."));
  const hits = hitsIn(state, source.id);
  const machineMarks = data.machine && !raw ? data.machine.claim.marks[source.id] || [] : [];
  const body = el("pre", raw ? "verbatim raw" : "verbatim", null, { "data-testid": "source-text" });
  const passages = raw ? [] : data.passages.filter((each) => each.source === source.id);
  appendMarked(body, { start: 0, text }, [...machineMarks, ...hits, ...passages]);
  box.append(body);
  const found = body.querySelectorAll(".hit.opens");
  const here = found[Math.min(Math.max(state.at, 0), found.length - 1)];
  here?.classList.add("here");
  const place = hits.length ? `${Math.min(Math.max(state.at, 0), hits.length - 1) + 1} of ${hits.length}` : "none here";
  const values = state.found ? `${data.values.said}: ${place}` : place;
  if (state.found && !data.values.said) parts.find.count.textContent = "no value in the claim";
  else parts.find.count.textContent = state.found || state.query.trim() ? values : "";
  if (arriving && here) bringIntoView(box, here, 0.3);
  else if (arriving) openAtPlace(box);
  else box.scrollTop = top;
}

function showRaw(state, raw) {
  state.raw = raw;
  state.at = 0;
  drawOutput(state, true);
}
