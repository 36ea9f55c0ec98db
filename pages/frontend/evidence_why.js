// The evidence view: why a claim was decided so. Every string in `data` may come from an untrusted
// tool: it reaches the page as text alone.

function drawWhy(state, claim) {
  const { parts } = state;
  const why = parts.why;
  why.replaceChildren();
  why.className = `why ${claim ? `kind-${claim.kind}` : ""}`;
  if (!claim) { why.hidden = true; return; }
  why.hidden = false;
  const actions = el("div", "actions");
  actions.append(
    button("text", "Copy link", (event) => copy(event.currentTarget, state, window.location.href), { title: "Copy a link to this claim" }),
    button("text", "Copy reason", (event) => copy(event.currentTarget, state, reasonText(state, claim)), { title: "Copy the claim and why it was decided so" }),
  );
  const [words, fold] = whyNodes(state, claim);
  words.append(...creditNodes(claim));
  why.append(words, fold, actions);
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
