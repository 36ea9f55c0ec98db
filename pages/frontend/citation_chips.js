// What the answer cites for the chosen claim, a chip each. Every string becomes a text node.

function citationNodes(state, claim) {
  if (!claim.citations.length) return [];
  const list = el("ul", "cites", null, { "data-testid": "citations", "aria-label": "What the answer cites" });
  claim.citations.forEach((chip, at) => {
    const item = el("li");
    item.append(citationChip(state, claim, chip, at));
    list.append(item);
  });
  return [list];
}

function citationChip(state, claim, chip, at) {
  const key = citationKey(at);
  const leads = chip.sources.length ? `\nShow ${chip.called.join(", then ")}` : "";
  const node = button(`cite ${chip.outcome}${state.check === key ? " chosen" : ""}`, null, () => chooseCitation(state, claim, at), {
    "aria-pressed": String(state.check === key),
    "aria-label": `cited: ${chip.text}, ${chip.word}`,
    title: `${chip.reason}${chip.instead ? `\nInstead: ${chip.instead}` : ""}${leads}`,
    "data-check": key,
  });
  node.append(el("span", "glyph", chip.mark, { "aria-hidden": "true" }), el("span", "cite-text", chip.text), el("span", "cite-word", chip.word));
  if (chip.instead) node.append(el("span", "cite-instead", `→ ${chip.instead}`));
  return node;
}

function citationKey(at) {
  return `cite-${at}`;
}

// The line whose place is lit: a check's, or the record that a citation leads to.
function chosenLine(claim, key) {
  const at = claim.citations.findIndex((_, index) => citationKey(index) === key);
  return at < 0 ? claim.checks[key] || null : { ...claim.citations[at], outcome: "cited", asked: false };
}

// The first choice opens what is cited; the next one what says it instead.
function chooseCitation(state, claim, at) {
  const key = citationKey(at);
  const { sources, reason, text } = claim.citations[at];
  const again = state.check === key ? sources.indexOf(state.source) + 1 : 0;
  state.check = key;
  state.raw = false;
  state.place = null;
  if (sources.length) showSource(state, sources[again % sources.length]);
  for (const node of state.parts.claim.querySelectorAll("[data-check]")) {
    const chosen = node.dataset.check === key;
    node.classList.toggle("chosen", chosen);
    node.setAttribute("aria-pressed", String(chosen));
  }
  drawSources(state, claim);
  if (state.panel === "matrix") drawMatrix(state);
  remember(state);
  const source = sources.length && state.data.sources.find((each) => each.id === state.source);
  state.parts.said.textContent = source ? `${text}: shown in ${source.name}` : `${text}: ${reason}`;
}
