// The evidence view: what each claim says, where it was taken from, and whether that source says it. Every
// string in `data` may come from an untrusted tool: it reaches the page as text alone.

// Opens the panel over the panes, or closes it.
function openPanel(state) {
  const { parts } = state;
  state.panel = !state.panel;
  parts.drawer.hidden = !state.panel;
  parts.panelButton.setAttribute("aria-expanded", String(state.panel));
  remember(state);
  if (state.panel) drawPanel(state);
  else parts.panelButton.focus();
}

function drawPanel(state) {
  const found = state.data.provenance;
  const { drawer } = state.parts;
  drawer.hidden = false;
  const bar = el("div", "pane-bar");
  bar.append(el("h2", null, "Claims and their sources"), el("span", "place", "the most serious first"));
  if (found) bar.append(button("text", "Report …", () => state.go("report"), { title: "Download the report of this answer: Markdown, JSON or PDF" }));
  bar.append(button("icon", "✕", () => openPanel(state), { "aria-label": "Close (Escape)", title: "Close (Escape)" }));
  const body = el("div", "provenance own-arrows", null, { tabindex: "0", "aria-label": "Claims and their sources" });
  drawer.replaceChildren(bar, body);
  if (!found) {
    body.append(el("p", "nothing muted", "Following each claim to its source …"));
    state.go("provenance");
    return;
  }
  body.focus({ preventScroll: true });  // so that the arrow keys scroll it, and step through no claim behind it
  body.append(claimsTable(state, found), ...contradictionNodes(state, found), ...omissionNodes(state, found), forAuditors(state, found));
}

function claimsTable(state, found) {
  const { data } = state;
  const order = data.counts.map((count) => count.kind);
  const claims = data.claims.filter((claim) => claim.kind !== "aside").sort((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
  const table = el("table", "chain");
  const head = el("tr");
  for (const name of ["The answer says", "Its source, or the closest", "Does that source say it?"]) head.append(el("th", null, name, { scope: "col" }));
  table.append(head);
  for (const claim of claims) {
    const at = data.claims.indexOf(claim);
    const shown = data.pieces.filter((piece) => piece.claims.includes(at) && piece.look !== "hidden");
    const said = shown.map((piece, n) => (n && piece.cell !== shown[n - 1].cell ? ` ${piece.text}` : piece.text)).join("");
    const traced = found.claims.find((each) => each.id === claim.id) || { chain: [], distortions: [] };
    const row = el("tr", `kind-${claim.kind}`, null, { "data-testid": "chain" });
    const [says, from, whether] = [el("th", null, null, { scope: "row" }), el("td"), el("td")];
    says.append(claimButton(state, claim.id), el("span", null, said), ...creditNodes(claim));
    from.append(...traced.chain.flatMap((link) => linkNodes(state, claim, link)), ...otherSources(state, claim, traced));
    const verdict = el("p");
    verdict.append(el("span", "headline", `${claim.mark} ${claim.headline}`));
    if (claim.because) verdict.append(el("span", "because", claim.because));
    whether.append(verdict, ...traced.distortions.map((each) => distortionNode(claim, each)));
    row.append(says, from, whether);
    table.append(row);
  }
  return table;
}

function claimButton(state, id) {
  const claim = state.data.claims.find((each) => each.id === id);
  return button(`text reason-claim kind-${claim.kind}`, `${claim.mark} claim ${claim.number}`, () => leaveFor(state, id, null), { title: "Show this claim in the answer" });
}

// Closes the panel on a claim, with a place in a source lit where one is given.
function leaveFor(state, claimId, place) {
  openPanel(state);
  choose(state, claimId || state.claim, { source: place ? place.source : null });
  if (place && place.start !== null) {
    state.place = place;
    drawSources(state, state.data.claims.find((each) => each.id === state.claim) || null);
  }
}

function placeButton(state, place, claimId) {
  return button("text place-link", place.called, () => leaveFor(state, claimId, place), { title: place.start === null ? "Show this source" : "Show the place in this source" });
}

function linkNodes(state, claim, link) {
  if (!link.place) return [placeButton(state, { source: link.source, called: link.called, start: null }, claim.id)];
  const quote = link.place.before || link.place.after ? inContext(link.place) : el("p", "muted", link.place.words);
  quote.classList.add("small");
  return [placeButton(state, link.place, claim.id), quote];
}

// What the model makes of the other sources: a credit is judged beside all of them.
function otherSources(state, claim, traced) {
  const others = claim.ranking.filter((each) => !traced.chain.some((link) => link.source === each.source));
  if (!others.length) return [];
  const box = el("details", "small");
  box.append(el("summary", null, many(others.length, "other source")));
  const list = el("ul");
  for (const each of others) {
    const { name } = state.data.sources.find((source) => source.id === each.source);
    const item = el("li");
    item.append(placeButton(state, { source: each.source, called: name, start: null }, claim.id), el("span", null, each.nli ? ` the model reads it as ${RELATION[each.nli.relation]}` : " not read for this claim"));
    list.append(item);
  }
  box.append(list);
  return [box];
}

function distortionNode(claim, each) {
  const pair = el("div", "pair", null, { "data-testid": "distortion" });
  for (const [label, text] of [["The answer", each.said], ["The source", each.place]]) {
    if (!text) continue;
    const line = inContext(text);
    line.prepend(el("span", "label", label));
    pair.append(line);
  }
  if (!claim.because.includes(each.reason)) pair.append(el("p", "small muted", each.reason));
  return pair;
}

function inContext(part) {
  const line = el("p");
  line.append(el("span", "muted", part.before), el("mark", "differs", part.words), el("span", "muted", part.after));
  return line;
}

function contradictionNodes(state, found) {
  if (!found.contradictions.length) return [];
  const several = found.turns > 1;
  const nodes = [el("h3", "part", several ? "Said in this conversation, and cannot both hold" : "Said in this answer, and cannot both hold")];
  for (const each of found.contradictions) {
    const box = el("article", "pair", null, { "data-testid": "contradiction" });
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
  const nodes = found.omissions.length ? [el("h3", "part", "In the sources, and left out of the answer")] : [];
  for (const each of found.omissions) {
    const box = el("article", "pair", null, { "data-testid": "omission" });
    const head = el("p", "pair-head");
    head.append(el("span", "muted small", `${each.category}${each.serious ? ", serious" : ""}`));
    if (each.place) head.append(placeButton(state, each.place, null));
    box.append(head, el("p", null, each.text));
    nodes.push(box);
  }
  if (beyond > 0) nodes.push(el("p", "muted small", `${many(beyond, "lighter omission")} not listed.`));
  for (const text of found.cited) nodes.push(el("p", "small", `Cited, and leads to nothing: ${text}`));
  return nodes;
}

function forAuditors(state, found) {
  const { data } = state;
  const box = el("details", "auditors", null, { "data-testid": "auditors" });
  const table = el("table", "risks small");
  const row = (tag, cells) => {
    const line = el("tr");
    for (const cell of cells) line.append(el(tag, null, cell, tag === "th" ? { scope: "col" } : {}));
    table.append(line);
  };
  row("th", ["Claim", "Risk", "Support", "Needed", "In no source", "Call"]);
  for (const each of found.claims) {
    const claim = data.claims.find((one) => one.id === each.id);
    row("td", [each.id, two(each.risk), two(claim.support), two(claim.threshold), each.made_up.join(", "), each.chain.map((link) => [link.called, link.call, link.arguments].filter(Boolean).join(" ")).join("; ")]);
  }
  const facts = [["trace", data.trace.id], ["version of the record", found.content_hash], ["verified", data.verified], ...Object.entries(data.versions)];
  box.append(el("summary", null, "For auditors: risk, support, calls and versions"), el("p", "small muted", `Risk is ${found.weights}, each from 0 to 1; the report has the parts. It ranks claims no better than support does: decide by the verdict.`), table, ...facts.map(([name, value]) => el("p", "small", `${name}: ${value}`)));
  return box;
}
