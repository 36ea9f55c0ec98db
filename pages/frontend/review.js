// The review view: one claim in its answer on the left, the sources in the order of the calls on the
// right. Nothing here knows what the verifier said until `data.machine` is given, after the decision.
//
// Every string in `data` may come from an untrusted tool: it reaches the page as text alone.

const views = new WeakMap();

export default function (component) {
  const { data, parentElement, setTriggerValue, setStateValue } = component;
  const root = parentElement.querySelector("#review");
  let state = views.get(parentElement);
  if (!state) {
    state = { key: null };
    views.set(parentElement, state);
    const onKey = (event) => steer(event, state);
    document.addEventListener("keydown", onKey);
    const unguard = guardTyping(state);
    const unwatch = watchWords(root, state);
    const uncount = watchPresses(state);
    state.cleanup = () => { uncount(); unwatch(); document.removeEventListener("keydown", onKey); unguard(); views.delete(parentElement); };
  }
  state.tell = (name, value) => setTriggerValue(name, { key: state.data.key, value });
  state.sendOrder = (order) => setStateValue("order", order);
  state.sayOwner = (source, name = "own") => { notePress(state, name); state.tell(name, source); };
  const before = state.data;
  state.data = data;
  if (!data.values) state.found = false; // a claim that is taken back comes without its values
  if (data.values && !before?.values && state.key === data.key) Object.assign(state, { found: true, at: -1 });
  if (state.key !== data.key) {
    Object.assign(state, { key: data.key, source: firstSource(data), left: null, raw: false, query: "", found: false, at: 0, panel: null, below: null, figures: false });
    draw(root, state);
  } else {
    refresh(state, before);
  }
  return state.cleanup;
}

const firstSource = (data) => (data.sources.length ? data.sources[0].id : null);

// ---------------------------------------------------------------- the frame

function draw(root, state) {
  const { data } = state;
  const parts = (state.parts = {});
  root.replaceChildren();
  const bar = el("header", "bar");
  parts.progress = el("div", "progress");
  const tools = el("div", "tools");
  parts.words = el("span", "words-tool");
  tools.append(
    parts.words,
    tool(state, "Guideline", data.keys.guideline, () => open(state, "guideline")),
    tool(state, "Keys", data.keys.help, () => open(state, "help")),
  );
  const names = el("div", "names");
  names.append(el("h1", "where", data.title), parts.progress);
  bar.append(names, tools);
  const asked = el("p", "question-line");
  asked.append(el("span", "label", "Question"), el("span", "asked", data.question || "(none captured)", { title: data.question }));
  if (data.turns.length) asked.append(tool(state, `Said before (${data.turns.length})`, data.keys.turns, () => open(state, "turns")));
  const panes = el("div", "panes");
  parts.answer = el("section", "pane answer-pane", null, { "aria-label": "Claim and answer" });
  parts.sources = el("section", "pane source-pane", null, { "aria-label": "Sources" });
  panes.append(parts.answer, parts.sources);
  parts.below = el("div", "below", null, { "aria-live": "polite" });
  parts.drawer = el("section", "drawer", null, { hidden: true });
  root.append(bar, asked, panes, parts.below, parts.drawer);
  drawAnswer(state);
  drawSources(state);
  refresh(state, null);
}

function tool(state, words, key, onClick) {
  const node = button("text", words, onClick, { "aria-keyshortcuts": key });
  node.append(el("kbd", null, key));
  return node;
}

// Draws again what another run may have changed; what the reader opened stays open.
function refresh(state, before) {
  const { data, parts } = state;
  const root = parts.drawer.parentElement;
  root.style.setProperty("--taken", data.taken);
  root.dataset.item = data.key;
  root.classList.toggle("seen", Boolean(data.machine || data.readings));
  drawProgress(state);
  drawWords(state);
  const revealed = data.machine && !(before && before.machine);
  if (revealed && data.machine.claim.routed) {
    const { sides } = data.machine.claim;
    state.source = sides && sides.automatic ? sides.right : data.machine.claim.routed;
    if (sides && sides.automatic && sides.left !== state.source) state.left = sides.left;
    state.raw = false;
  }
  // First what takes room, then what scrolls within the room that is left.
  const below = JSON.stringify([data.machine, data.readings, data.mine]);
  if (state.below !== below) {
    state.below = below;
    parts.below.replaceChildren(...(data.machine ? [machine(state)] : []), ...(data.readings ? [readings(state)] : []));
  }
  if (!before || revealed) drawClaim(state);
  drawTabs(state);
  const held = (each) => Boolean(each && each.texts[state.source] && (!state.left || each.texts[state.left]));
  const marks = (each) => JSON.stringify([each?.passages, each?.owners]);
  if (!before || revealed || held(before) !== held(data) || marks(before) !== marks(data)) drawOutput(state, !before || revealed);
  if (state.at < 0) stepValues(state);
}

// How often the chosen words stand in the claim and in the sources, and whether they are lit.
function drawWords(state) {
  const { data, parts } = state;
  const held = data.sources.filter((source) => data.texts[source.id]);
  const places = [["the claim", data.claim], ...held.map((source) => [source.name, data.texts[source.id].text])];
  parts.words.replaceChildren(...wordsTool(state, places, held.length < data.sources.length, () => drawWords(state)));
}

function drawProgress(state) {
  const { progress } = state.data;
  const { parts } = state;
  parts.progress.replaceChildren();
  if (!progress) return;
  if ("share" in progress) {
    const bar = el("span", "progress-bar", null, { "aria-hidden": "true" });
    const fill = el("span", "progress-fill");
    fill.style.setProperty("--share", String(progress.share));
    bar.append(fill);
    parts.progress.append(bar);
  }
  parts.progress.append(el("span", null, progress.words));
}

// ---------------------------------------------------------------- claim and answer

function drawAnswer(state) {
  const { data, parts } = state;
  parts.claim = el("div", "the-claim");
  const bar = el("div", "pane-bar");
  bar.append(el("h2", null, "Answer"), el("span", "place", "the claim is lit"));
  parts.answerText = el("div", "answer scroll own-arrows", null, { tabindex: "0", "aria-label": "The answer, the claim lit" });
  const passage = el("div", "verbatim", null, { "data-testid": "answer" });
  layOutAnswer(passage, data.blocks, data.pieces, (piece) => [el(piece.lit ? "mark" : "span", `${piece.lit ? "lit" : ""}${lookOf(piece)}`.trim() || null, piece.text)]);
  bar.append(...layoutToggle(passage, data.pieces));
  parts.answerText.append(passage);
  parts.answer.append(parts.claim, bar, parts.answerText);
  if (data.guideline_beside) parts.answer.append(...guidelineBeside(data.guideline));
}

// In an agreement round the guideline is what is tested: it stays in view.
function guidelineBeside(guideline) {
  const head = el("div", "pane-bar");
  head.append(el("h2", null, "Guideline"), el("span", "place", `version ${guideline.version}`));
  const body = el("div", "guideline-beside scroll own-arrows", null, { tabindex: "0", "aria-label": "The guideline", "data-testid": "guideline" });
  body.append(el("p", "guideline", guideline.text));
  return [head, body];
}

function drawClaim(state) {
  const { data, parts } = state;
  parts.claim.replaceChildren(el("span", "label", "The claim"));
  if (data.machine) parts.claim.append(...claimNodes(data.machine.claim));
  else parts.claim.append(el("p", "claim-text", data.claim, { "data-testid": "claim" }));
  showClaim(state);
}

const showClaim = ({ parts }) => bringIntoView(parts.answerText, parts.answerText.querySelector(".lit"), 0.35);

// ---------------------------------------------------------------- what others said, once it may be seen

function machine(state) {
  const { claim, here, agrees, pre_label } = state.data.machine;
  const box = el("section", `machine why kind-${claim.kind}`, null, { "aria-label": "The verifier's view" });
  const quoted = (quote) => { const line = el("span", "check"); line.append(...quoteNodes(quote)); return line; };
  box.append(...whyNodes(state, claim, "Verifier: ", [...creditNodes(claim), ...judgeNodes(claim, quoted), el("p", "caption", here)]));
  box.firstChild.append(el("p", "small", agrees, { "data-testid": "agrees" }), ...(pre_label ? [el("p", "small", pre_label, { "data-testid": "pre-label" })] : []));
  return box;
}

function readings(state) {
  const { data } = state;
  const row = el("section", "readings", null, { "aria-label": "Two annotations, and mine" });
  for (const each of data.readings) {
    const box = el("article", "reading");
    const reason = el("div", "rationale");
    reason.append(el("p", each.rationale ? null : "still", each.rationale || "Wrote no reason."));
    for (const quote of each.quotes) reason.append(el("p", "quoted", `“${quote}”`));
    box.append(el("h2", null, each.name), reason, el("p", "answers", each.answers));
    row.append(box);
  }
  const mine = el("article", "reading mine", null, { "data-testid": "mine" });
  mine.append(el("h2", null, "My decision"), el("p", `rationale${data.mine.rationale ? "" : " still"}`, data.mine.rationale || data.mine.asks), el("p", `answers${data.mine.answers ? "" : " still"}`, data.mine.answers || "Nothing chosen yet."));
  row.append(mine);
  return row;
}

// ---------------------------------------------------------------- guideline and keys

function open(state, panel) {
  const { data, parts } = state;
  state.panel = state.panel === panel ? null : panel;
  parts.drawer.hidden = !state.panel;
  if (!state.panel) { parts.box.focus(); return; }
  const bar = el("div", "pane-bar");
  const [title, place] = {
    guideline: ["Guideline", `version ${data.guideline.version}`],
    help: ["Keys", "no mouse needed · to change one: Settings, My keys"],
    turns: ["Said before", "the conversation up to this answer, the oldest first"],
  }[panel];
  bar.append(
    el("h2", null, title),
    el("span", "place", place),
    button("icon", "✕", () => open(state, state.panel), { "aria-label": "Close (Escape)", title: "Close (Escape)" }),
  );
  const body = el("div", "drawer-body own-arrows", null, { tabindex: "0" });
  if (panel === "guideline") body.append(el("p", "guideline", data.guideline.text));
  else if (panel === "turns") {
    for (const [question, said] of data.turns) {
      if (question) body.append(el("p", "label", "Asked"), el("p", "guideline asked-before", question));
      body.append(el("p", "label", "Answered"), el("p", "guideline", said));
    }
  } else {
    const table = el("table", "keys");
    for (const [key, words] of data.help) {
      const row = el("tr");
      const cell = el("td");
      cell.append(el("kbd", null, key));
      row.append(cell, el("td", null, words));
      table.append(row);
    }
    body.append(table);
  }
  parts.drawer.setAttribute("aria-label", title);
  parts.drawer.replaceChildren(bar, body);
  body.focus();
}

// ---------------------------------------------------------------- keys

const SCROLLS = { PageDown: (height) => 0.85 * height, PageUp: (height) => -0.85 * height, ArrowDown: () => 48, ArrowUp: () => -48 };

function steer(event, state) {
  const target = event.composedPath()[0];
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !state.parts) return;
  if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName || "")) return;
  if (document.querySelector("[data-testid='stDialog']")) return;
  const { data } = state;
  if (SCROLLS[event.key] && !event.shiftKey && state.parts.box && !event.composedPath().some((node) => node.classList?.contains("own-arrows"))) {
    state.parts.box.scrollBy({ top: SCROLLS[event.key](state.parts.box.clientHeight) });
    event.preventDefault();
    return;
  }
  const pressed = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  const name = Object.keys(data.keys).find((each) => data.keys[each] === pressed);
  const ids = data.sources.map((source) => source.id);
  const at = ids.indexOf(state.source);
  if (name === "next_source" && at + 1 < ids.length) choose(state, ids[at + 1]);
  else if (name === "previous_source" && at > 0) choose(state, ids[at - 1]);
  else if (name === "side_by_side" && ids.length > 1) toggleSides(state);
  else if (name === "search" && state.parts.find) { state.parts.find.input.focus(); state.parts.find.input.select(); }
  else if (name === "values" && ids.length) findValues(state);
  else if (name === "mark" && state.source) markPassage(state);
  else if (name === "raw" && data.texts[state.source]?.raw != null) showRaw(state, !state.raw);
  else if (name === "open_source" && data.answerable && state.source) state.sayOwner(state.source);
  else if (name === "also_source" && data.answerable && state.source) state.sayOwner(state.source, "also");
  else if (name === "guideline" || name === "help" || (name === "turns" && data.turns.length)) open(state, name);
  else if (name === "words") toggleWords(state, () => drawWords(state));
  else if (name === "close" && state.panel) open(state, state.panel);
  else if (name === "figures" || (name === "close" && state.figures)) toggleFigures(state);
  else if (name === "close" && document.querySelector(".st-key-row-notes")) document.querySelector(".st-key-notes button")?.click();
  else return;
  event.preventDefault();
}
