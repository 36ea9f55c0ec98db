// The evidence view: the answer with its claims marked. Every string in `data` may come from an
// untrusted tool: it reaches the page as text alone.

function drawAnswer(state) {
  const { data, parts } = state;
  const pane = parts.answer;
  const bar = el("div", "pane-bar");
  bar.append(el("h2", null, "Answer"));
  parts.place = el("span", "place");
  const passage = el("div", "verbatim", null, { "data-testid": "answer" });
  const steps = el("div", "steps");
  if (data.claims.length) {
    steps.append(
      button("icon", "↑", () => step(state, -1), { "aria-label": `Previous claim (arrow up or ${data.keys.previous_claim})`, title: `Previous claim (↑ or ${data.keys.previous_claim})` }),
      button("icon", "↓", () => step(state, 1), { "aria-label": `Next claim (arrow down or ${data.keys.next_claim})`, title: `Next claim (↓ or ${data.keys.next_claim})` }),
    );
  }
  steps.prepend(...layoutToggle(passage, data.pieces));
  bar.append(parts.place, steps);
  parts.answerText = el("div", "answer scroll", null, { tabindex: "0", "aria-label": "The answer, its claims marked" });
  layOutAnswer(passage, data.blocks, data.pieces, (piece) => answerNodes(piece, state));
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
      "data-mark": claim.kind === "aside" ? claim.mark : `${claim.mark}${claim.number}`,
      "data-claim": at,
    });
    return node;
  });
  if (!piece.claims.length) {
    nodes.push(el("span", `${piece.credits.length ? "credit" : ""}${lookOf(piece)}`.trim() || null, piece.text, { "data-credits": piece.credits.join(" ") || null }));
    return nodes;
  }
  const claim = data.claims[piece.claims[0]];
  const node = el("mark", `said kind-${claim.kind}${piece.credits.length ? " credit" : ""}${lookOf(piece)}`, piece.text, {
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
