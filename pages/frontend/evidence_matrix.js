// The evidence view: which source says which claim. Every string in `data` may come from an
// untrusted tool: it reaches the page as text alone.

const SAYS = {
  entailment: ["✓", "read as saying it"],
  neutral: ["·", "read as silent"],
  contradiction: ["✕", "read as saying otherwise"],
};

// Opens one of the panels over the panes, or closes the one that is open.
function openPanel(state, panel) {
  const { parts } = state;
  const closes = state.panel === panel;
  const from = state.panel === "provenance" ? parts.provenanceButton : parts.matrixButton;
  state.panel = closes || !["matrix", "provenance"].includes(panel) ? null : panel;
  parts.drawer.hidden = !state.panel;
  parts.matrixButton?.setAttribute("aria-expanded", String(state.panel === "matrix"));
  parts.provenanceButton?.setAttribute("aria-expanded", String(state.panel === "provenance"));
  remember(state);
  if (!state.panel) { from?.focus(); return; }
  drawPanel(state);
}

function drawPanel(state) {
  if (state.panel === "matrix") drawMatrix(state);
  if (state.panel === "provenance") drawProvenance(state);
}

function panelBar(state, title, about) {
  const bar = el("div", "pane-bar");
  bar.append(el("h2", null, title), el("span", "place", about));
  bar.append(button("icon", "✕", () => openPanel(state, state.panel), { "aria-label": "Close (Escape)", title: "Close (Escape)" }));
  return bar;
}

function drawMatrix(state) {
  const { data, parts } = state;
  const drawer = parts.drawer;
  drawer.classList.remove("whole");
  const top = drawer.querySelector(".matrix-box")?.scrollTop || 0;
  const fewer = data.columns.length < data.sources.length;
  const box = el("div", "matrix-box own-arrows", null, { tabindex: "0" });
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
    name.append(el("span", `flag-text kind-${claim.kind}`, `${claim.mark} ${claim.number}`, { title: claim.word }), el("span", "row-said", claim.said));
    row.append(name, ...data.columns.map((id) => matrixCell(state, claim, id, names.get(id))));
    body.append(row);
  }
  table.append(thead, body);
  box.append(table);
  const legend = el("p", "caption matrix-legend");
  for (const words of ["The model reads it as ✓ saying it", "· silent", "✕ saying otherwise", "– not read for this claim", "◉ the source that the claim was checked against", "○ the source that the answer credits"]) legend.append(el("span", null, words));
  drawer.replaceChildren(panelBar(state, "Every claim against every source", fewer ? `the ${data.columns.length} best of ${data.sources.length} sources` : "which source says which claim"), legend, box);
  box.scrollTop = top;
}

function matrixCell(state, claim, id, name) {
  const each = claim.ranking.find((entry) => entry.source === id);
  const routed = claim.routed === id;
  const stated = claim.stated.includes(id);
  const cell = el("td");
  if (!each && !routed && !stated) {
    cell.append(el("span", "muted", "–", { title: "Not ranked for this claim" }));
    return cell;
  }
  const nli = each && each.nli;
  const [mark, words] = nli ? SAYS[nli.relation] : ["–", "was not read for this claim"];
  const roles = [routed && "checked against", stated && "credited"].filter(Boolean);
  const node = button(`says${nli ? ` rel-${nli.relation}` : ""}${routed ? " routed" : ""}${claim.id === state.claim && state.source === id ? " chosen" : ""}`, null, () => {
    choose(state, claim.id, { source: id });
  }, {
    title: `Claim ${claim.number}, ${name}: ${words}${nli ? ` (${two(nli[nli.relation])})` : ""}${roles.length ? `; ${roles.join(", ")}` : ""}${each ? `\nRoute score ${two(each.score)}` : ""}`,
  });
  const aloud = `Claim ${claim.number}, ${name}: ${[words, ...roles].join(", ")} `;
  node.append(el("span", "said-aloud", aloud), ...[["says-mark", mark], ["says-n", nli ? two(nli[nli.relation]) : ""], ["says-role", `${routed ? "◉" : ""}${stated ? "○" : ""}`]].map(([name, text]) => el("span", name, text, { "aria-hidden": "true" })));
  cell.append(node);
  return cell;
}
