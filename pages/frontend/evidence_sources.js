// The evidence view: the sources ranked for a claim and the output of one. Every string in `data`
// may come from an untrusted tool: it reaches the page as text alone.

const SOURCES_SHOWN_AT_FIRST = 40;

function drawSources(state, claim) {
  const { data, parts } = state;
  const pane = parts.sources;
  const listTop = parts.sourceList && parts.listFor === (claim && claim.id) ? parts.sourceList.scrollTop : 0;
  pane.replaceChildren();
  pane.className = `pane source-pane kind-${claim ? claim.kind : "aside"}`;
  const bar = el("div", "pane-bar");
  bar.append(el("h2", null, "Sources"), el("span", "place", sourcesWords(state, claim)));
  pane.append(bar);
  if (!data.sources.length) {
    pane.append(el("p", "muted nothing", "No tool output was captured."));
    return;
  }
  if (data.sources.length > 1) {
    parts.sidesButton = button("text", state.sides ? "One source" : "Side by side", () => toggleSides(state), {
      "aria-pressed": String(Boolean(state.sides)), "aria-keyshortcuts": data.keys.side_by_side, title: `${state.sides ? "Back to one source and the list" : "Two sources side by side"}${hint(data.keys.side_by_side)}`,
    });
    bar.append(parts.sidesButton);
  }
  parts.panes.classList.toggle("beside", Boolean(state.sides));
  if (state.sides) { drawSides(state, claim); return; }
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

function sourcesWords(state, claim) {
  if (!claim) return "in the order of the calls";
  if (state.sides && (claim.instead || (claim.sides && claim.sides.left_place))) return "what is credited, and what says it";
  return state.sides ? "side by side" : "best match first";
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
  const words = [routed && "checked against", stated && (claim.credit ? "credited" : "implied by the answer")].filter(Boolean);
  if (words.length) roles.append(el("span", `role${routed ? " routed" : ""}`, words.join(", ")));
  if (nli) roles.append(el("span", `role read rel-${nli.relation}`, `read as ${RELATION[nli.relation]} ${two(nli[nli.relation])}`, { title: `Read by the model: ${RELATION[nli.relation]}` }));
  node.append(roles);
  const bar = el("span", `score${score === null ? " none" : ""}`, null, { title: score === null ? "Not ranked for this claim" : `Match with the claim (route score) ${score.toFixed(4)}` });
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
  const about = [source.family, source.server && `server ${source.server}`, source.status_words, source.note].filter(Boolean).join(" · ");
  title.append(el("span", "facts", about, { title: [source.id, about, many(source.characters, "character"), source.uri].filter(Boolean).join("\n") }));
  head.append(title);
  if (held && held.raw) {
    const toggle = el("div", "toggle", null, { role: "group", "aria-label": "How to show this output" });
    for (const [raw, words] of [[false, "Readable"], [true, "Raw"]]) {
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
  const raw = Boolean(state.raw && held && held.raw);
  const check = claim && state.check !== null ? chosenLine(claim, state.check) : null;
  if (!raw && factMarks(check, source).length) parts.sources.append(legend(check, ((claim.marks || {})[source.id] || []).some((mark) => mark.kind === "premise")));
  const box = el("div", "output scroll own-arrows", null, { tabindex: "0", "aria-label": "The source's output", "data-testid": "output" });
  parts.sources.append(box);
  if (fillOutput(state, claim, source, box, { raw, extra: [] })) openAtPlace(box);
}

// Fills a box with what a tool was asked and gave; false where there is nothing to scroll to.
function fillOutput(state, claim, source, box, { raw, extra }) {
  const held = state.data.texts[source.id];
  const check = claim && state.check !== null ? chosenLine(claim, state.check) : null;
  const facts = raw ? [] : factMarks(check, source);
  if (!raw && state.place && state.place.source === source.id) facts.push({ ...state.place, kind: "fact" });
  const asked = check && check.asked && check.sources.includes(source.id);
  box.append(...callLine(source, asked), ...callRead(source, raw ? null : claim));
  if (!held) {
    box.append(el("p", "muted", "Fetching this output …"));
    state.fetch(source.id);
    return false;
  }
  const text = raw ? held.raw : held.readable;
  const marks = raw
    ? (claim && (held.raw_marks || {})[claim.id]) || []
    : [...((claim && claim.marks[source.id]) || []), ...facts, ...extra];
  if (!text.characters) box.append(el("p", "muted", "This output is empty."));
  if (claim && claim.routed && !raw && !state.sides && !marks.some((mark) => mark.kind === "premise") && claim.routed !== source.id) {
    box.append(el("p", "muted small", "Not the source that this claim was checked against; the claim's values are boxed where they stand beside its words."));
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
  return !(asked && !facts.length);  // the call's arguments stand at the top
}
