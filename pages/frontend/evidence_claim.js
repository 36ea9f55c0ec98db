// The evidence view: the chosen claim and what the record shows of it. Every string in `data` may
// come from an untrusted tool: it reaches the page as text alone.

const CHECKS_SHOWN_AT_FIRST = 6;

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
  card.append(line, ...citationNodes(state, claim), ...judgeNodes(claim, (quote, at) => quoteLine(state, claim, quote, at)), ...checkNodes(state, claim), ...measured);
}

// ---------------------------------------------------------------- what the record shows

function checkNodes(state, claim) {
  const { words, elsewhere, open } = claim.not_found;
  if (!claim.checks.length && !words.length && !elsewhere.length && !open.length) return [];
  const box = el("div", `checks kind-${claim.kind}`, null, { "data-testid": "checks" });
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
  if (elsewhere.length) box.append(el("p", "missed", `In the text, but not found as a fact about this: ${elsewhere.join(", ")}`));
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
  const node = button(`check ${check.outcome}${state.check === at ? " chosen" : ""}`, null, () => chooseLine(state, claim, at), {
    "aria-pressed": String(state.check === at),
    title: `${check.outcome === "supports" ? "In the record" : "Speaks against the claim"}: ${check.text}\nShow where ${check.called.join(", ")} says this`,
    "data-check": at,
  });
  node.append(el("span", "glyph", check.mark, { "aria-hidden": "true" }), el("span", "check-text", check.text), el("span", "check-source", where));
  return node;
}

// The chosen line's places in one source, as marks.
function factMarks(check, source) {
  const kind = check && ["contradicts", "judged against"].includes(check.outcome) ? "fact against" : "fact";
  return check ? check.places.filter((place) => place.source === source.id).map((place) => ({ ...place, kind })) : [];
}

function quoteLine(state, claim, quote, at) {
  const key = `judge-${at}`;
  const node = button(`check${state.check === key ? " chosen" : ""}`, null, () => chooseLine(state, claim, key), {
    "aria-pressed": String(state.check === key), title: `Quoted from ${quote.called[0]}`, "data-check": key,
  });
  node.append(...quoteNodes(quote));
  return node;
}

function legend(check, premise) {
  const line = el("p", "legend", null, { "data-testid": "legend" });
  const said = el("span");
  said.append(el("mark", check.outcome === "contradicts" ? "fact against" : "fact", "a"), check.outcome === "contradicts" ? "what speaks against the claim" : "what the chosen line shows");
  const read = el("span");
  read.append(el("mark", "premise", "a"), "what the claim was checked against");
  line.append(said, ...(premise ? [read] : []));
  return line;
}
