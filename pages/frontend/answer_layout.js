// An answer in its own layout: headings, lists and tables of plain elements, never of parsed markup.
// The pieces' text joins to the answer to the letter; what is only syntax is there and hidden.

function layOutAnswer(passage, blocks, pieces, nodesOf) {
  let open = null;      // the block's element that text goes to
  let at = null;
  let cell = null;
  let table = null;
  let waiting = [];     // what stands before the next block: its number, white space, syntax
  for (const piece of pieces) {
    const nodes = nodesOf(piece);
    if (piece.block === null) { waiting.push(...nodes); continue; }
    const block = blocks[piece.block];
    if (piece.block !== at) {
      const inTable = block.kind === "row" || block.kind === "table-head";
      const before = at === null ? null : blocks[at];
      const fresh = before !== null && before.group !== block.group;
      if (!inTable) table = null;
      else if (!table || fresh) {
        table = el("span", `md-table${fresh ? " md-apart" : ""}`, null, { role: "table" });
        passage.append(table);
      }
      open = el("span", `md md-${block.kind}${fresh && !inTable ? " md-apart" : ""}${block.ordered ? " md-ordered" : ""}`, null, {
        role: inTable ? "row" : block.kind === "heading" ? "heading" : null, "aria-level": block.kind === "heading" ? "3" : null,
      });
      if (block.kind === "item") open.style.setProperty("--depth", String(Math.min(8, Math.floor(block.depth / 2))));
      (table || passage).append(open);
      open.append(...waiting);
      waiting = [];
      at = piece.block;
      cell = null;
    }
    open.append(...waiting);
    waiting = [];
    if (piece.cell === null) { cell = null; open.append(...nodes); continue; }
    if (!cell || cell.dataset.cell !== String(piece.cell)) {
      cell = el("span", "md-cell", null, { role: blocks[at].kind === "table-head" ? "columnheader" : "cell", "data-cell": piece.cell });
      open.append(cell);
    }
    cell.append(...nodes);
  }
  passage.append(...waiting);
}

// The class that a piece's look gives its node.
const lookOf = (piece) => (piece.look ? ` md-${piece.look}` : "");

// A button between the layout and the answer as it was written; nothing where both are the same.
function layoutToggle(passage, pieces) {
  if (!pieces.some((piece) => piece.look === "hidden" && piece.text.trim())) return [];
  const node = button("text", "As written", () => {
    const written = passage.classList.toggle("as-written");
    node.setAttribute("aria-pressed", String(written));
  }, { "aria-pressed": "false", title: "The answer with the characters that make its headings, lists and tables" });
  return [node];
}
