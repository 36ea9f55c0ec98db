// The evidence view: every claim against every source. Every string in `data` may come from an
// untrusted tool: it reaches the page as text alone.

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
