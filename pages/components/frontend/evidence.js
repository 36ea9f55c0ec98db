// The evidence view: an answer with its claims on the left, the sources behind them on the right.
//
// Every string in `data` may come from an untrusted tool. It reaches the page through `textContent`
// alone: no markup is parsed, no link is made, nothing is fetched. Offsets are UTF-16 units.

const states = new WeakMap();
const SOURCES_SHOWN_AT_FIRST = 40;
const CHECKS_SHOWN_AT_FIRST = 6;

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector("#evidence");
  let state = states.get(parentElement);
  const arriving = !state || state.traceId !== data.trace.id || state.data.claims.length !== data.claims.length;
  if (arriving) {
    state = {
      traceId: data.trace.id,
      claim: null, source: null, check: null, raw: false, panel: null, shown: SOURCES_SHOWN_AT_FIRST,
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
    choose(state, wanted ? wanted.id : null, { source, quiet: true });
  } else {
    choose(state, state.claim, { source: state.source, quiet: true });
  }
  const onKey = (event) => steer(event, state);
  document.addEventListener("keydown", onKey);
  state.cleanup = () => document.removeEventListener("keydown", onKey);
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
  parts.drawer = el("section", "drawer", null, { hidden: true, "aria-label": "All claims and sources" });
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
    const chip = el("span", `count kind-${count.kind}`, null, { title: `${count.n} ${count.word}` });
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
    const versions = Object.entries(data.versions).map(([name, value]) => `${name}: ${value}`);
    line.append(el("span", "verified", `verified ${at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}`, {
      title: [`${at.toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" })} · ${data.verified}`, ...versions].join("\n"),
    }));
  }
  for (const link of data.links || []) line.append(button("text go", link.words, () => state.go(link.page), { title: link.title }));
  box.append(line);
  const reasons = [...data.reasons, ...data.notices.map((text) => ({ claim: null, text: `Import: ${text}` }))];
  if (reasons.length) {
    const line = el("p", "question-line");
    const label = { block: "Blocked because", allow: "Allowed", unavailable: "Unavailable because", pending: "Note" }[data.decision.kind];
    line.append(el("span", "label", label), ...reason(state, reasons[0]));
    if (reasons.length > 1) {
      const more = el("details", "more");
      more.append(el("summary", null, `and ${reasons.length - 1} more`));
      const list = el("ul");
      for (const each of reasons.slice(1)) {
        const item = el("li");
        item.append(...reason(state, each));
        list.append(item);
      }
      more.append(list);
      line.append(more);
    }
    box.append(line);
  }
  return box;
}

function reason(state, each) {
  const claim = state.data.claims.find((one) => one.id === each.claim);
  const words = el("span", "asked", each.text, { title: each.text });
  if (!claim) return [words];
  const open = button(`text reason-claim kind-${claim.kind}`, `${claim.mark} claim ${claim.number}`, () => choose(state, claim.id), { title: "Show this claim" });
  return [open, words];
}

function unusable(data) {
  const text = data.trace.answer === null
    ? "No answer was captured in this trace, so there is nothing to check."
    : "No tool output was captured in this trace, so no claim can be checked.";
  return el("p", "notice", text);
}

// ---------------------------------------------------------------- answer

function drawAnswer(state) {
  const { data, parts } = state;
  const pane = parts.answer;
  const bar = el("div", "pane-bar");
  bar.append(el("h2", null, "Answer"));
  parts.place = el("span", "place");
  const steps = el("div", "steps");
  if (data.claims.length) {
    steps.append(
      button("icon", "↑", () => step(state, -1), { "aria-label": "Previous claim (arrow up or K)", title: "Previous claim (↑ or K)" }),
      button("icon", "↓", () => step(state, 1), { "aria-label": "Next claim (arrow down or J)", title: "Next claim (↓ or J)" }),
      button("text", "All claims × sources", () => toggleMatrix(state), { title: "Every claim against every source (M)", "aria-expanded": "false" }),
    );
    parts.matrixButton = steps.lastChild;
  }
  bar.append(parts.place, steps);
  parts.answerText = el("div", "answer scroll", null, { tabindex: "0", "aria-label": "The answer, its claims marked" });
  const passage = el("div", "verbatim", null, { "data-testid": "answer" });
  data.pieces.forEach((piece) => passage.append(...answerNodes(piece, state)));
  parts.answerText.append(passage);
  parts.claim = el("div", "claim-card");
  pane.append(bar, parts.answerText, parts.claim);
}

function answerNodes(piece, state) {
  const { data } = state;
  const nodes = piece.opens.map((at) => {
    const claim = data.claims[at];
    const node = button(`flag kind-${claim.kind}`, null, () => choose(state, claim.id), {
      "aria-label": `Claim ${claim.number}: ${claim.word}`,
      title: `Claim ${claim.number}: ${claim.word}`,
      // The mark is drawn by the style sheet, so that copied text is the answer and nothing else.
      "data-mark": `${claim.mark}${claim.number}`,
      "data-claim": at,
    });
    return node;
  });
  if (!piece.claims.length) {
    nodes.push(el("span", piece.credits.length ? "credit" : null, piece.text, { "data-credits": piece.credits.join(" ") || null }));
    return nodes;
  }
  const claim = data.claims[piece.claims[0]];
  const node = el("mark", `said kind-${claim.kind}${piece.credits.length ? " credit" : ""}`, piece.text, {
    "data-claims": piece.claims.join(" "),
    "data-credits": piece.credits.join(" ") || null,
    title: `Claim ${claim.number}: ${claim.word}`,
  });
  node.addEventListener("click", () => {
    if (String(document.getSelection()).length) return;  // someone is copying text
    // Where claims share words, clicking again goes to the next one.
    const chosen = piece.claims.findIndex((at) => data.claims[at].id === state.claim);
    choose(state, data.claims[piece.claims[(chosen + 1) % piece.claims.length]].id);
  });
  nodes.push(node);
  return nodes;
}

// ---------------------------------------------------------------- choosing

// To the next claim that says something; what was set aside is reached by a click.
function step(state, by) {
  const { claims } = state.data;
  let at = claims.findIndex((claim) => claim.id === state.claim) + by;
  while (claims[at] && claims[at].kind === "aside") at += by;
  if (claims[at]) choose(state, claims[at].id);
}

function choose(state, claimId, { source = null, quiet = false } = {}) {
  const { data, parts } = state;
  const claim = data.claims.find((each) => each.id === claimId) || null;
  const next = claim ? claim.id : null;
  if (next !== state.claim) { state.check = null; state.allChecks = false; }
  state.claim = next;
  state.source = source || (claim && claim.routed) || state.source || (data.sources[0] && data.sources[0].id) || null;
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
  if (state.panel === "matrix") drawMatrix(state);
  if (!quiet) {
    remember(state);
    if (claim) parts.said.textContent = `Claim ${claim.number} of ${data.claims.length}: ${claim.headline}`;
  }
}

function chooseSource(state, sourceId) {
  const { data } = state;
  state.source = sourceId;
  state.raw = false;
  const claim = data.claims.find((each) => each.id === state.claim) || null;
  drawSources(state, claim);
  if (state.panel === "matrix") drawMatrix(state);
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
  window.history.replaceState(window.history.state, "", url);
}

function steer(event, state) {
  const target = event.composedPath()[0];
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName || "")) return;
  if (document.querySelector("[data-testid='stDialog']")) return;
  // A pane that scrolls keeps its arrow keys; J and K always step.
  const scrolling = event.composedPath().some((node) => node.classList?.contains("own-arrows"));
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key === "j" || (key === "ArrowDown" && !scrolling)) step(state, 1);
  else if (key === "k" || (key === "ArrowUp" && !scrolling)) step(state, -1);
  else if (key === "m" && state.data.claims.length) toggleMatrix(state);
  else if (key === "Escape" && state.panel) toggleMatrix(state);
  else return;
  event.preventDefault();
}

// ---------------------------------------------------------------- the claim

function drawClaim(state, claim) {
  const card = state.parts.claim;
  card.replaceChildren();
  if (!claim) {
    card.append(el("p", "muted", state.data.decision.kind === "pending"
      ? "This trace has not been verified yet. Start the verification on the Traces page."
      : "Nothing in this answer claims a fact that could be checked."));
    return;
  }
  const [line, ...measured] = claimNodes(claim);
  card.append(line, ...citationNodes(state, claim), ...checkNodes(state, claim), ...measured);
}

// ---------------------------------------------------------------- what the record shows

function checkNodes(state, claim) {
  const { words, open } = claim.not_found;
  if (!claim.checks.length && !words.length && !open.length) return [];
  const box = el("div", "checks", null, { "data-testid": "checks" });
  if (claim.checks.length) box.append(el("h3", null, "What the record shows"));
  const list = el("ul");
  const shown = state.allChecks ? claim.checks.length : CHECKS_SHOWN_AT_FIRST;
  claim.checks.slice(0, shown).forEach((check, at) => {
    const item = el("li");
    item.append(checkLine(state, claim, check, at));
    list.append(item);
  });
  box.append(list);
  if (claim.checks.length > shown) {
    box.append(button("text more-checks", `${claim.checks.length - shown} more`, () => {
      state.allChecks = true;
      drawClaim(state, claim);
    }));
  }
  if (words.length) box.append(el("p", "missed", `Not found: ${words.join(", ")}`));
  if (open.length) {
    const more = el("details");
    more.append(el("summary", null, `Not settled: ${open.length}`));
    const notes = el("ul");
    for (const each of open) notes.append(el("li", null, each));
    more.append(notes);
    box.append(more);
  }
  return [box];
}

function checkLine(state, claim, check, at) {
  const others = check.called.length - 1;
  const where = `${check.called[0] || ""}${others > 0 ? ` + ${others}` : ""}`;
  const node = button(`check ${check.outcome}${state.check === at ? " chosen" : ""}`, null, () => chooseCheck(state, claim, at), {
    "aria-pressed": String(state.check === at),
    "aria-label": `${check.outcome === "supports" ? "in the record" : "contradicts"}: ${check.text}${where ? `, in ${where}` : ""}`,
    title: `${check.outcome === "supports" ? "In the record" : "Contradicts the claim"}: ${check.text}\nShow where ${check.called.join(", ")} says this`,
    "data-check": at,
  });
  node.append(el("span", "glyph", check.mark, { "aria-hidden": "true" }), el("span", "check-text", check.text), el("span", "check-source", where));
  return node;
}

// The line's source with its place lit; where several sources are behind it, again means the next.
function chooseCheck(state, claim, at) {
  const { sources } = claim.checks[at];
  const again = state.check === at ? sources.indexOf(state.source) + 1 : 0;
  state.check = at;
  state.raw = false;
  if (sources.length) state.source = sources[again % sources.length];
  for (const node of state.parts.claim.querySelectorAll("[data-check]")) {
    const chosen = Number(node.dataset.check) === at;
    node.classList.toggle("chosen", chosen);
    node.setAttribute("aria-pressed", String(chosen));
  }
  drawSources(state, claim);
  if (state.panel === "matrix") drawMatrix(state);
  remember(state);
  const source = state.data.sources.find((each) => each.id === state.source);
  state.parts.said.textContent = source ? `Shown in ${source.name}` : "";
}

// The chosen line's places in one source, as marks.
function factMarks(check, source) {
  const kind = check && check.outcome === "contradicts" ? "fact against" : "fact";
  return check ? check.places.filter((place) => place.source === source.id).map((place) => ({ ...place, kind })) : [];
}

function legend(check, premise) {
  const line = el("p", "legend", null, { "data-testid": "legend" });
  const said = el("span");
  said.append(el("mark", check.outcome === "contradicts" ? "fact against" : "fact", "a"), check.outcome === "contradicts" ? "what contradicts the claim" : "what the chosen line shows");
  const read = el("span");
  read.append(el("mark", "premise", "a"), "what the claim was checked against");
  line.append(said, ...(premise ? [read] : []));
  return line;
}

// ---------------------------------------------------------------- sources

function drawSources(state, claim) {
  const { data, parts } = state;
  const pane = parts.sources;
  const listTop = parts.sourceList && parts.listFor === (claim && claim.id) ? parts.sourceList.scrollTop : 0;
  pane.replaceChildren();
  const bar = el("div", "pane-bar");
  bar.append(el("h2", null, "Sources"), el("span", "place", claim ? "ranked for this claim" : "in the order of the calls"));
  pane.append(bar);
  if (!data.sources.length) {
    pane.append(el("p", "muted nothing", "No tool output was captured."));
    return;
  }
  const rows = ranked(data, claim);
  const list = el("div", "source-list own-arrows", null, { role: "group", "aria-label": "Candidate sources" });
  const chosenAt = rows.findIndex((row) => row.source.id === state.source);
  const shown = Math.max(state.shown, chosenAt + 1);
  for (const row of rows.slice(0, shown)) list.append(sourceRow(state, claim, row));
  if (rows.length > shown) {
    list.append(button("text more-sources", `Show ${Math.min(200, rows.length - shown)} more of ${rows.length - shown}`, () => {
      state.shown = shown + 200;
      drawSources(state, claim);
    }));
  }
  parts.sourceList = list;
  parts.listFor = claim && claim.id;
  pane.append(list);
  list.scrollTop = listTop;
  bringIntoView(list, list.querySelector(".chosen"), 0.3);
  drawOutput(state, claim);
}

function ranked(data, claim) {
  const byId = new Map(data.sources.map((source) => [source.id, source]));
  const rows = [];
  for (const each of claim ? claim.ranking : []) {
    if (byId.has(each.source)) rows.push({ source: byId.get(each.source), score: each.score, nli: each.nli });
    byId.delete(each.source);
  }
  for (const source of byId.values()) rows.push({ source, score: null, nli: null });
  return rows;
}

function sourceRow(state, claim, row) {
  const { source, score, nli } = row;
  const routed = claim && claim.routed === source.id;
  const stated = claim && claim.stated.includes(source.id);
  const node = button(`source-row${state.source === source.id ? " chosen" : ""}`, null, () => chooseSource(state, source.id), {
    "aria-pressed": String(state.source === source.id),
    title: source.id,
    "data-source": source.id,
  });
  node.append(sourceName("span", source));
  node.append(el("span", "source-family", source.status_short || source.family, { title: source.status_words || source.family }));
  const roles = el("span", "roles");
  if (routed) roles.append(el("span", "role routed", "◉ checked against"));
  if (stated) roles.append(el("span", "role stated", `○ ${claim.credit ? "credited" : "implied"}`));
  if (nli) roles.append(el("span", `role rel-${nli.relation}`, `${RELATION[nli.relation]} ${two(nli[nli.relation])}`));
  node.append(roles);
  const bar = el("span", `score${score === null ? " none" : ""}`, null, { title: score === null ? "Not ranked for this claim" : `Route score ${score.toFixed(4)}` });
  if (score !== null) {
    const fill = el("span", "score-fill");
    fill.style.setProperty("--share", String(Math.max(0, Math.min(1, score))));
    bar.append(fill);
  }
  bar.append(el("span", "score-n", score === null ? "" : two(score)));
  node.append(bar);
  return node;
}

function drawOutput(state, claim) {
  const { data, parts } = state;
  const source = data.sources.find((each) => each.id === state.source);
  if (!source) return;
  const held = data.texts[source.id];
  const head = el("div", "output-bar");
  const title = el("div", "output-title");
  title.append(sourceName("h3", source));
  const about = [source.family, source.server && `server ${source.server}`, many(source.characters, "character"), source.status_words, source.note].filter(Boolean).join(" · ");
  title.append(el("span", "facts", about, { title: [source.id, about, source.uri].filter(Boolean).join("\n") }));
  head.append(title);
  if (held && held.raw) {
    const toggle = el("div", "toggle", null, { role: "group", "aria-label": "How to show this output" });
    for (const [raw, words] of [[false, "Readable"], [true, "Raw output"]]) {
      toggle.append(button(state.raw === raw ? "chosen" : "", words, () => {
        state.raw = raw;
        drawSources(state, claim);
      }, { "aria-pressed": String(state.raw === raw) }));
    }
    head.append(toggle);
  }
  head.append(button("text widen", state.wide ? "Narrow" : "Widen", () => {
    state.wide = !state.wide;
    parts.panes.classList.toggle("wide", state.wide);
    drawSources(state, claim);
  }, { title: state.wide ? "Give the answer its room back" : "Give the source more room", "aria-pressed": String(Boolean(state.wide)) }));
  parts.sources.append(head);
  const raw = state.raw && held && held.raw;
  const check = claim && state.check !== null ? chosenLine(claim, state.check) : null;
  const facts = raw ? [] : factMarks(check, source);
  const asked = check && check.asked && check.sources.includes(source.id);
  if (facts.length) parts.sources.append(legend(check, ((claim.marks || {})[source.id] || []).some((mark) => mark.kind === "premise")));
  const box = el("div", "output scroll own-arrows", null, { tabindex: "0", "aria-label": "The source's output", "data-testid": "output" });
  parts.sources.append(box);
  if (source.arguments) {
    const line = el("p", asked ? "arguments fact" : "arguments");
    line.append(el("span", "label", "Called with"), el("code", null, source.arguments));
    box.append(line);
  }
  if (!held) {
    box.append(el("p", "muted", "Fetching this output …"));
    state.fetch(source.id);
    return;
  }
  const text = raw ? held.raw : held.readable;
  const marks = raw
    ? (claim && (held.raw_marks || {})[claim.id]) || []
    : [...((claim && claim.marks[source.id]) || []), ...facts];
  if (!text.characters) box.append(el("p", "muted", "This output is empty."));
  if (claim && claim.routed && !raw && !marks.some((mark) => mark.kind === "premise") && claim.routed !== source.id) {
    box.append(el("p", "muted small", "Not the source that this claim was checked against; the claim's values are boxed where they occur."));
  }
  const body = el("pre", raw ? "verbatim raw" : "verbatim", null, { "data-testid": "source-text" });
  let shownTo = 0;
  for (const part of text.parts) {
    if (part.start > shownTo) body.append(el("span", "gap", "\n… not shown …\n"));
    appendMarked(body, part, marks);
    shownTo = part.start + part.text.length;
  }
  box.append(body);
  if (text.parts.length && text.parts[text.parts.length - 1].after < text.characters) {
    body.append(el("span", "gap", "\n… not shown …\n"));
  }
  if (asked && !facts.length) return;  // the call's arguments stand at the top
  bringIntoView(box, body.querySelector(".fact") || body.querySelector(".premise") || body.querySelector(".value"), 0.3);
}

// ---------------------------------------------------------------- why

function drawWhy(state, claim) {
  const { parts } = state;
  const why = parts.why;
  why.replaceChildren();
  why.className = `why ${claim ? `kind-${claim.kind}` : ""}`;
  if (!claim) { why.hidden = true; return; }
  why.hidden = false;
  const words = el("div", "why-words");
  const head = el("p", "headline");
  head.append(el("span", "glyph", claim.mark, { "aria-hidden": "true" }), el("span", "headline-text", claim.headline));
  words.append(head);
  words.append(...creditNodes(claim));
  if (claim.reasons_beside.length) {
    const list = el("ul", "reasons");
    for (const reason of claim.reasons_beside) list.append(el("li", null, reason));
    words.append(list);
  }
  const figures = figuresOf(claim);
  const actions = el("div", "actions");
  actions.append(
    button("text", "Copy link", (event) => copy(event.currentTarget, state, window.location.href), { title: "Copy a link to this claim" }),
    button("text", "Copy reason", (event) => copy(event.currentTarget, state, reasonText(state, claim)), { title: "Copy the claim and why it was decided so" }),
  );
  const side = el("div", "why-side");
  side.append(figures, actions);
  why.append(words, side);
}

function reasonText(state, claim) {
  const lines = [`Trace ${state.data.trace.id}, claim ${claim.number}: ${claim.said}`, `${claim.mark} ${claim.headline}`];
  return [...lines, ...claim.reasons.map((reason) => `- ${reason}`), window.location.href].join("\n");
}

async function copy(node, state, text) {
  const words = node.textContent;
  try {
    await navigator.clipboard.writeText(text);
    node.textContent = "Copied";
    state.parts.said.textContent = "Copied";
  } catch (error) {
    // Without clipboard permission the text is offered for copying by hand.
    window.prompt("Copy this text", text);
  }
  node.addEventListener("blur", () => { node.textContent = words; }, { once: true });
  node.addEventListener("pointerleave", () => { node.textContent = words; }, { once: true });
}

// ---------------------------------------------------------------- every claim against every source

function toggleMatrix(state) {
  const { parts } = state;
  state.panel = state.panel ? null : "matrix";
  parts.drawer.hidden = !state.panel;
  parts.matrixButton?.setAttribute("aria-expanded", String(Boolean(state.panel)));
  if (state.panel) drawMatrix(state); else parts.matrixButton?.focus();
}

function drawMatrix(state) {
  const { data, parts } = state;
  const drawer = parts.drawer;
  const top = drawer.querySelector(".matrix-box")?.scrollTop || 0;
  drawer.replaceChildren();
  const bar = el("div", "pane-bar");
  bar.append(el("h2", null, "Every claim against every source"), el("span", "place", data.columns.length < data.sources.length ? `the ${data.columns.length} best of ${data.sources.length} sources` : "route scores"));
  bar.append(button("icon", "✕", () => toggleMatrix(state), { "aria-label": "Close (Escape)", title: "Close (Escape)" }));
  drawer.append(bar);
  const box = el("div", "matrix-box own-arrows");
  const table = el("table", "matrix");
  const names = new Map(data.sources.map((source) => [source.id, source.name]));
  const head = el("tr");
  head.append(el("th", null, "Claim", { scope: "col" }));
  for (const id of data.columns) head.append(el("th", null, names.get(id), { scope: "col", title: id }));
  const thead = el("thead");
  thead.append(head);
  const body = el("tbody");
  for (const claim of data.claims.filter((each) => each.kind !== "aside")) {
    const row = el("tr", claim.id === state.claim ? "chosen" : "");
    const name = el("th", null, null, { scope: "row" });
    name.append(el("span", `flag-text kind-${claim.kind}`, `${claim.mark} ${claim.number}`), el("span", "row-said", claim.said));
    row.append(name);
    for (const id of data.columns) {
      const each = claim.ranking.find((entry) => entry.source === id);
      const cell = el("td");
      if (each) {
        const routed = claim.routed === id;
        const stated = claim.stated.includes(id);
        const label = `${two(each.score)}${routed ? " ◉" : ""}${stated ? " ○" : ""}`;
        const node = button(`heat${routed ? " routed" : ""}${claim.id === state.claim && state.source === id ? " chosen" : ""}`, label, () => {
          choose(state, claim.id, { source: id });
        }, { title: `Claim ${claim.number}, ${names.get(id)}: route score ${two(each.score)}${each.nli ? `, ${RELATION[each.nli.relation]} ${two(each.nli[each.nli.relation])}` : ""}` });
        node.style.setProperty("--look", (Math.max(0, Math.min(1, each.score)) * 0.5).toFixed(3));
        cell.append(node);
      } else {
        cell.append(el("span", "muted", "–", { title: "Not ranked for this claim" }));
      }
      row.append(cell);
    }
    body.append(row);
  }
  table.append(thead, body);
  box.append(table);
  box.append(el("p", "caption", "◉ the source that the claim was checked against   ○ the source that the answer credits"));
  drawer.append(box);
  box.scrollTop = top;
}
