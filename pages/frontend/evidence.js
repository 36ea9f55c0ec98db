// The evidence view: an answer with its claims on the left, the sources behind them on the right.
//
// Every string in `data` may come from an untrusted tool. It reaches the page through `textContent`
// alone: no markup is parsed, no link is made, nothing is fetched. Offsets are UTF-16 units.

const states = new WeakMap();

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector("#evidence");
  let state = states.get(parentElement);
  const arriving = !state || state.traceId !== data.trace.id || state.data.claims.length !== data.claims.length;
  if (arriving) {
    state = {
      traceId: data.trace.id,
      claim: null, source: null, sides: null, check: null, raw: false, panel: false, shown: SOURCES_SHOWN_AT_FIRST,
    };
    states.set(parentElement, state);
  }
  const unchanged = !arriving && state.json === JSON.stringify(data);
  state.data = data;
  state.fetch = (sourceId) => setTriggerValue("fetch", sourceId);
  state.go = (page) => setTriggerValue("go", page);
  if (unchanged) return state.cleanup;
  state.json = JSON.stringify(data);
  state.cleanup?.();
  draw(root, state);
  if (arriving) {
    const wanted = data.claims.find((c) => c.id === data.view.claim) || data.claims.find((c) => c.id === data.first);
    const source = data.sources.some((s) => s.id === data.view.source) ? data.view.source : null;
    choose(state, wanted ? wanted.id : null, { source, beside: data.view.beside, quiet: true });
    if (data.view.panel && data.claims.length) openPanel(state);
  } else {
    choose(state, state.claim, { source: state.source, keep: true, quiet: true });
    if (state.panel) drawPanel(state);
  }
  const onKey = (event) => steer(event, state);
  document.addEventListener("keydown", onKey);
  const unwatch = watchWords(root, state);
  state.cleanup = () => { unwatch(); document.removeEventListener("keydown", onKey); };
  return state.cleanup;
}

// ---------------------------------------------------------------- the frame

function draw(root, state) {
  const { data } = state;
  root.replaceChildren();
  root.dataset.decision = data.decision.kind;
  const parts = (state.parts = {});
  root.append(
    header(state),
    question(state),
    ...(data.view.claim && !data.claims.some((claim) => claim.id === data.view.claim) ? [el("p", "notice", "The link names a claim that this verdict does not have; the first one that matters is shown.")] : []),
    ...(data.trace.answer === null || !data.sources.length ? [unusable(data)] : []),
  );
  const panes = (parts.panes = el("div", state.wide ? "panes wide" : "panes"));
  parts.answer = el("section", "pane answer-pane", null, { "aria-label": "Answer" });
  parts.sources = el("section", "pane source-pane", null, { "aria-label": "Sources" });
  panes.append(parts.answer, parts.sources);
  parts.why = el("section", "why", null, { "aria-label": "Why", "aria-live": "polite" });
  parts.drawer = el("section", "drawer", null, { hidden: true, "aria-label": "Claims and their sources" });
  parts.said = el("div", "said-aloud", null, { role: "status" });
  root.append(panes, parts.why, parts.drawer, parts.said);
  drawAnswer(state);
}

function header(state) {
  const { data } = state;
  const bar = el("header", "bar");
  const names = el("div", "names");
  names.append(el("h1", "trace-id", data.trace.id, { title: data.trace.id }));
  const facts = [data.trace.category, data.trace.tools].filter(Boolean).join(" · ");
  names.append(el("span", "facts", facts, { title: facts }));
  const verdict = el("div", "verdict");
  for (const count of data.counts) {
    const chip = button(`count kind-${count.kind}`, null, () => toNext(state, count), { title: "Show the next one" });
    chip.append(el("span", "glyph", count.mark, { "aria-hidden": "true" }), el("span", "n", String(count.n)), el("span", "word", count.word));
    verdict.append(chip);
  }
  const badge = el("strong", `badge badge-${data.decision.kind}`);
  badge.append(el("span", "glyph", data.decision.mark, { "aria-hidden": "true" }), el("span", null, data.decision.word));
  verdict.append(badge);
  bar.append(names, verdict);
  return bar;
}

function question(state) {
  const { data } = state;
  const box = el("div", "question");
  const line = el("p", "question-line");
  line.append(el("span", "label", "Question"), el("span", "asked", data.trace.question || "(none captured)", { title: data.trace.question }));
  if (data.verified) {
    const at = new Date(data.verified);
    line.append(el("span", "verified", `verified ${at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}`, {
      title: at.toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" }),
    }));
  }
  if (data.claims.length) {
    state.parts.panelButton = button("text", "Claims and their sources", () => openPanel(state), { title: `What each claim says, where it was taken from, and whether that source says it${hint(data.keys.provenance)}`, "aria-expanded": "false", "aria-keyshortcuts": data.keys.provenance });
    state.parts.words = el("span", "words-tool");
    line.append(state.parts.words, state.parts.panelButton);
  }
  for (const link of data.links || []) line.append(button("text go", link.words, () => state.go(link.page), { title: link.title }));
  box.append(line);
  const notes = [...data.reasons, ...data.notices.map((text) => `Import: ${text}`)].join(" ");
  if (notes) {
    const line = el("p", "question-line");
    line.append(el("span", "asked", notes, { title: notes }));
    box.append(line);
  }
  return box;
}

function unusable(data) {
  const text = data.trace.answer === null
    ? "No answer was captured in this trace, so there is nothing to check."
    : "No tool output was captured in this trace, so no claim can be checked.";
  return el("p", "notice", text);
}

// How often the chosen words stand in the claim and in the sources, and whether they are lit.
function drawWords(state) {
  const { data, parts } = state;
  if (!parts.words) return;
  const claim = data.claims.find((each) => each.id === state.claim);
  const held = data.sources.filter((source) => data.texts[source.id]);
  const textOf = (source) => data.texts[source.id].readable.parts.map((part) => part.text).join("\n");
  const places = [...(claim ? [["the claim", claim.pieces.map((piece) => piece.text).join("")]] : []), ...held.map((source) => [source.name, textOf(source)])];
  parts.words.replaceChildren(...wordsTool(state, places, held.length < data.sources.length, () => drawWords(state)));
}

// ---------------------------------------------------------------- choosing

// To the next claim that says something; what was set aside is reached by a click.
function step(state, by) {
  const { claims } = state.data;
  let at = claims.findIndex((claim) => claim.id === state.claim) + by;
  while (claims[at] && claims[at].kind === "aside") at += by;
  if (claims[at]) choose(state, claims[at].id);
}

// To the next claim that a count counts, around the end to the first.
function toNext(state, count) {
  const { claims } = state.data;
  const at = claims.findIndex((claim) => claim.id === state.claim);
  const around = [...claims.slice(at + 1), ...claims.slice(0, at + 1)];
  choose(state, around.find((claim) => claim.kind === count.kind && claim.word === count.word).id);
}

function choose(state, claimId, { source = null, beside = null, keep = false, quiet = false } = {}) {
  const { data, parts } = state;
  const claim = data.claims.find((each) => each.id === claimId) || null;
  const next = claim ? claim.id : null;
  if (next !== state.claim) { state.check = null; state.allChecks = false; }
  state.claim = next;
  state.source = source || (claim && claim.routed) || state.source || (data.sources[0] && data.sources[0].id) || null;
  if (!keep) {
    state.place = null;
    // A source that was asked for is shown as asked; else credit and support stand side by side.
    state.sides = source && !beside ? null : sidesOf(state, claim, beside);
    if (state.sides) state.source = state.sides.right = source || state.sides.right;
  }
  const at = claim ? data.claims.indexOf(claim) : -1;
  for (const node of parts.answerText.querySelectorAll("[data-claims]")) {
    node.classList.toggle("chosen", node.dataset.claims.split(" ").includes(String(at)));
  }
  for (const node of parts.answerText.querySelectorAll("[data-credits]")) {
    node.classList.toggle("chosen-credit", node.dataset.credits.split(" ").includes(String(at)));
  }
  for (const node of parts.answerText.querySelectorAll("[data-claim]")) {
    const chosen = Number(node.dataset.claim) === at;
    node.classList.toggle("chosen", chosen);
    node.setAttribute("aria-pressed", String(chosen));
  }
  parts.place.textContent = claim ? `claim ${claim.number} of ${data.claims.length}` : "";
  // First what takes room, then what scrolls within the room that is left.
  drawClaim(state, claim);
  drawWhy(state, claim);
  drawSources(state, claim);
  bringIntoView(parts.answerText, parts.answerText.querySelector(".said.chosen"), 0.35);
  drawWords(state);
  if (!quiet) {
    remember(state);
    if (claim) parts.said.textContent = `Claim ${claim.number} of ${data.claims.length}: ${claim.headline}`;
  }
}

// Opens a source; of two panes the right one takes it, unless the left one shows it already.
function showSource(state, sourceId) {
  state.source = sourceId;
  if (state.sides && state.sides.left !== sourceId) state.sides.right = sourceId;
}

function chooseSource(state, sourceId) {
  const { data } = state;
  showSource(state, sourceId);
  state.raw = false;
  const claim = data.claims.find((each) => each.id === state.claim) || null;
  drawSources(state, claim);
  remember(state);
}

// The address always names what is on screen, without a round trip and without filling the history.
function remember(state) {
  const url = new URL(window.location.href);
  url.searchParams.set("trace", state.data.trace.id);
  if (state.claim) url.searchParams.set("claim", state.claim); else url.searchParams.delete("claim");
  const claim = state.data.claims.find((each) => each.id === state.claim);
  if (state.source && (!claim || state.source !== claim.routed)) url.searchParams.set("source", state.source);
  else url.searchParams.delete("source");
  const automatic = Boolean(claim && claim.sides && claim.sides.automatic);
  const same = state.sides ? automatic && state.sides.left === claim.sides.left : !automatic;
  if (same) url.searchParams.delete("beside"); else url.searchParams.set("beside", state.sides ? state.sides.left : "none");
  if (state.panel) url.searchParams.set("panel", "provenance"); else url.searchParams.delete("panel");
  window.history.replaceState(window.history.state, "", url);
}

function steer(event, state) {
  const target = event.composedPath()[0];
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName || "")) return;
  if (document.querySelector("[data-testid='stDialog']")) return;
  // A pane that scrolls keeps its arrow keys; the letters always step.
  const scrolling = event.composedPath().some((node) => node.classList?.contains("own-arrows"));
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  const name = Object.keys(state.data.keys).find((each) => state.data.keys[each] === key);
  if (name === "next_claim" || (key === "ArrowDown" && !scrolling)) step(state, 1);
  else if (name === "previous_claim" || (key === "ArrowUp" && !scrolling)) step(state, -1);
  else if (name === "side_by_side" && state.data.sources.length > 1 && !state.panel) toggleSides(state);
  else if (name === "provenance" && state.data.claims.length) openPanel(state);
  else if (name === "words") toggleWords(state, () => drawWords(state));
  else if (name === "close" && state.panel) openPanel(state);
  else if (name === "figures" || (name === "close" && state.figures)) toggleFigures(state);
  else return;
  event.preventDefault();
}
