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
  const node = button(`cite ${chip.outcome}${state.check === key ? " chosen" : ""}`, null, () => chooseLine(state, claim, key), {
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

// The line whose place is lit: a check's, the record that a citation leads to, or a judge's quote.
function chosenLine(claim, key) {
  const [kind, at] = String(key).split("-");
  if (kind === "cite") return { ...claim.citations[at], outcome: "cited", asked: false };
  if (kind === "judge") return claim.judge ? claim.judge.quotes[at] : null;
  return claim.checks[key] || null;
}

// The line's source with its place lit; where several sources are behind it, again means the next.
function chooseLine(state, claim, key) {
  const { sources, reason, text } = chosenLine(claim, key);
  const again = state.check === key ? sources.indexOf(state.source) + 1 : 0;
  state.check = key;
  state.raw = false;
  state.place = null;
  if (sources.length) showSource(state, sources[again % sources.length]);
  for (const node of state.parts.claim.querySelectorAll("[data-check]")) {
    const chosen = node.dataset.check === String(key);
    node.classList.toggle("chosen", chosen);
    node.setAttribute("aria-pressed", String(chosen));
  }
  drawSources(state, claim);
  remember(state);
  const source = sources.length && state.data.sources.find((each) => each.id === state.source);
  state.parts.said.textContent = source ? `${text}: shown in ${source.name}` : `${text}: ${reason || "no place in the sources"}`;
}
