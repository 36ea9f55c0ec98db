// The evidence view: the provenance of the whole answer. Every string in `data` may come from an
// untrusted tool: it reaches the page as text alone.

function drawProvenance(state) {
  const { data, parts } = state;
  const { drawer } = parts;
  const found = data.provenance;
  drawer.classList.add("whole");
  const bar = panelBar(state, "Provenance", found ? "of the whole answer, by its riskiest claim" : "");
  if (!found) {
    drawer.replaceChildren(bar, el("p", "nothing muted", "Working out risk, distortions and omissions …"));
    state.go("provenance");
    return;
  }
  bar.insertBefore(button("text", "Report …", () => state.go("report"), { title: "Download the report of this answer: Markdown, JSON or PDF" }), bar.lastChild);
  const top = drawer.querySelector(".provenance")?.scrollTop || 0;
  const body = el("div", "provenance own-arrows", null, { tabindex: "0", "aria-label": "Provenance" });
  const left = el("div", "column");
  const right = el("div", "column");
  left.append(...riskNodes(state, found), ...distortionNodes(state, found), ...contradictionNodes(state, found));
  right.append(...omissionNodes(state, found), ...movedNodes(state, found), ...chainNodes(state, found));
  body.append(left, right);
  drawer.replaceChildren(bar, body);
  body.scrollTop = top;
}

function heading(words, count, hint) {
  const node = el("h3", "part", null, { title: hint });
  node.append(el("span", null, words), el("span", "part-n", count));
  return node;
}

function claimButton(state, id) {
  const claim = state.data.claims.find((each) => each.id === id);
  if (!claim) return el("span", "muted", id);
  return button(`text reason-claim kind-${claim.kind}`, `${claim.mark} claim ${claim.number}`, () => leaveFor(state, id, null), { title: claim.said });
}

// Closes the panel on a claim, with a place in a source lit where one is given.
function leaveFor(state, claimId, place) {
  if (state.panel) openPanel(state, state.panel);
  choose(state, claimId || state.claim, { source: place ? place.source : null });
  if (place && place.start !== null) {
    state.place = place;
    drawSources(state, state.data.claims.find((each) => each.id === state.claim) || null);
  }
}

function placeButton(state, place, claimId) {
  return button("text place-link", place.called, () => leaveFor(state, claimId, place), { title: place.start === null ? "Show this source" : "Show the place in this source" });
}

function riskNodes(state, found) {
  const words = el("div", "risk-words");
  for (const each of found.held_back) words.append(el("p", "held-back", `${each[0].toUpperCase()}${each.slice(1)}.`));
  const worst = found.claims[0];
  const line = el("p", "small");
  if (worst) line.append(el("span", null, `Risk ${two(found.risk)}, that of `), claimButton(state, found.riskiest));
  words.append(line, el("p", "caption", `${found.grounded === null ? "No factual claim" : `${percent(found.grounded)} of the claims pass`}. ${found.note}`));
  const table = el("table", "risks");
  const head = el("tr");
  for (const name of ["Claim", "Risk", ...(worst ? worst.parts.map((part) => part.words) : [])]) head.append(el("th", null, name, { scope: "col" }));
  table.append(head);
  for (const claim of found.claims) {
    const row = el("tr");
    const name = el("td");
    name.append(claimButton(state, claim.id));
    const risk = el("td", `level level-${claim.level}`);
    risk.append(el("span", "level-mark", claim.mark, { "aria-hidden": "true" }));
    if (claim.level === "BLOCKED") risk.append(el("span", null, claim.word), el("span", "by-formula", ` formula ${two(claim.risk)}`, { title: `The risk formula alone: ${claim.formula}` }));
    else risk.append(el("span", null, `${claim.word} ${two(claim.risk)}`));
    row.append(name, risk, ...claim.parts.map((part) => el("td", "n", two(part.value), { title: `${part.term}\nWeighs ${part.weight.toFixed(2)}` })));
    table.append(row);
  }
  return [heading("Risk", "", "Risk score by four parts"), words, table];
}

function distortionNodes(state, found) {
  const all = found.claims.flatMap((claim) => claim.distortions.map((each) => ({ ...each, of: claim.id })));
  const nodes = [heading("Told differently than the source", String(all.length), "Distortions: the claim's words beside the source's")];
  if (!all.length) nodes.push(el("p", "muted small", "No claim was found to change what its source says."));
  for (const each of all) {
    const box = el("article", `pair${each.against ? " against" : ""}`, null, { "data-testid": "distortion" });
    const head = el("p", "pair-head");
    head.append(claimButton(state, each.of), el("span", "pair-kind", each.kind), el("span", "muted small", each.against ? "speaks against the claim" : "for information"));
    const said = el("div", "pair-text");
    said.append(el("span", "label", "The answer"), each.said ? inContext(each.said) : el("p", null, each.claim));
    const stated = el("div", "pair-text");
    stated.append(el("span", "label", "The source"), each.place ? inContext(each.place) : el("p", null, "–"));
    if (each.place) stated.append(placeButton(state, each.place, each.of));
    const both = el("div", "pair-texts");
    both.append(said, stated);
    box.append(head, both, el("p", "small muted", each.reason));
    nodes.push(box);
  }
  const made = found.claims.filter((claim) => claim.made_up.length);
  if (made.length || found.cited.length) {
    nodes.push(heading("In no source", String(made.length + found.cited.length), "Fabrications: values that no output holds and that follow from none; citations that lead to nothing"));
    for (const claim of made) {
      const line = el("p", "small");
      line.append(claimButton(state, claim.id), el("span", null, ` ${claim.made_up.join(", ")}`));
      nodes.push(line);
    }
    for (const text of found.cited) nodes.push(el("p", "small", `Cited, and leads to nothing: ${text}`));
  }
  return nodes;
}

function inContext(part) {
  const line = el("p");
  line.append(el("span", "muted", part.before), el("mark", "differs", part.words), el("span", "muted", part.after));
  return line;
}

function contradictionNodes(state, found) {
  const several = found.turns > 1;
  const nodes = [heading(several ? "Contradictions in the conversation" : "Contradictions inside the answer", String(found.contradictions.length), several ? `Two things the agent said in its ${found.turns} turns that cannot both hold; this answer is turn ${found.turns}` : "Two claims of the answer that cannot both hold")];
  if (!found.contradictions.length) nodes.push(el("p", "muted small", several ? "No two claims of the conversation were found to contradict each other." : "No two claims of the answer contradict each other."));
  for (const each of found.contradictions) {
    const box = el("article", "pair against", null, { "data-testid": "contradiction" });
    const both = el("div", "pair-texts");
    const turn = el("div", "turn-text", null, { hidden: "" });
    for (const side of each.sides) {
      const part = el("div", "pair-text");
      const head = el("p", "pair-head");
      if (side.claim) head.append(claimButton(state, side.claim));
      if (side.whole) head.append(turnButton(side, found, turn));
      else if (several) head.append(el("span", "muted small", `this answer, turn ${side.turn} of ${found.turns}`));
      const said = el("p");
      said.append(el("span", null, side.said.before), el("mark", "differs", side.said.words), el("span", null, side.said.after));
      part.append(head, said);
      both.append(part);
    }
    box.append(both, turn, el("p", "small muted", `differs in ${each.kind}`));
    nodes.push(box);
  }
  return nodes;
}

// An earlier turn is in no other view: it opens below the pair, with the place marked in it.
function turnButton(side, found, box) {
  const words = `turn ${side.turn} of ${found.turns}`;
  const opener = button("text", words, () => {
    const open = box.dataset.turn === String(side.turn) && !box.hidden;
    box.hidden = open;
    box.dataset.turn = side.turn;
    for (const other of box.parentNode.querySelectorAll("[aria-expanded]")) other.setAttribute("aria-expanded", "false");
    opener.setAttribute("aria-expanded", String(!open));
    const mark = el("mark", "differs", side.whole.words);
    const said = el("p", "turn-said");
    said.append(el("span", "muted", side.whole.before), mark, el("span", "muted", side.whole.after));
    box.replaceChildren(el("p", "label", `What the agent said in ${words}`), said);
    if (!open) bringIntoView(box, mark, 0.3);
  }, { title: "Show what the agent said in this turn", "aria-expanded": "false" });
  return opener;
}

function omissionNodes(state, found) {
  const beyond = found.omissions_found - found.omissions.length;
  const nodes = [heading("Left out of the answer", String(found.omissions.length), "Omissions: facts of the sources that bear on the task and that the answer is silent on")];
  if (!found.omissions.length) nodes.push(el("p", "muted small", "Nothing that bears on the task was found to be left out."));
  for (const each of found.omissions) {
    const box = el("article", `pair level-${each.severity}`, null, { "data-testid": "omission" });
    const head = el("p", "pair-head");
    head.append(el("span", `level level-${each.severity}`, `${each.mark} ${each.word}`), el("span", "muted small", each.category));
    if (each.place) head.append(placeButton(state, each.place, null));
    box.append(head, el("p", null, each.text));
    nodes.push(box);
  }
  if (beyond > 0) nodes.push(el("p", "muted small", `${many(beyond, "lighter omission")} not listed.`));
  return nodes;
}

function movedNodes(state, found) {
  const moved = found.claims.filter((each) => each.moved.length);
  if (!moved.length) return [];
  const nodes = [heading("What moved each claim most", "", "The calibrator's inputs that changed this claim's support most, the strongest first: ▲ towards supported, ▼ against it")];
  for (const claim of moved) {
    const box = el("details", "chain-claim", null, { "data-testid": "moved" });
    const head = el("summary");
    head.append(el("span", null, `Claim ${(state.data.claims.find((each) => each.id === claim.id) || {}).number || ""}: ${claim.moved[0].for ? "▲" : "▼"} ${claim.moved[0].words}`));
    const list = el("ul");
    for (const each of claim.moved) list.append(el("li", "small", `${each.for ? "▲ for" : "▼ against"}: ${each.words}`));
    const part = el("div", "chain-link");
    part.append(list);
    box.append(head, part);
    nodes.push(box);
  }
  return nodes;
}

function chainNodes(state, found) {
  const nodes = [heading("Where each claim comes from", "", "Provenance chain: claim → facts → call → run")];
  for (const claim of found.claims.filter((each) => each.chain.length)) {
    const box = el("details", "chain-claim");
    const head = el("summary");
    head.append(el("span", null, `Claim ${(state.data.claims.find((each) => each.id === claim.id) || {}).number || ""} → ${claim.chain.map((link) => link.called).join(", ")}`));
    box.append(head);
    for (const link of claim.chain) {
      const part = el("div", "chain-link");
      part.append(placeButton(state, { source: link.source, called: link.called, start: null }, claim.id));
      if (link.call) part.append(el("span", "muted small", `call ${link.call}`));
      if (link.arguments) part.append(el("code", "small", link.arguments));
      const facts = el("ul");
      for (const fact of link.facts) {
        const item = el("li");
        item.append(button("fact-link", fact.words || "searched whole", () => leaveFor(state, claim.id, fact)));
        facts.append(item);
      }
      part.append(facts);
      box.append(part);
    }
    nodes.push(box);
  }
  return nodes;
}
