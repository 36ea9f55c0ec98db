// The list of traces. Every string becomes a text node; an id reaches a link only as an encoded
// query parameter of a fixed address.

// What is drawn in a place, and which rows are ticked there: both outlive a new drawing.
const drawn = new WeakMap();
const ticked = new WeakMap();

export default function (component) {
  const { data, parentElement, setTriggerValue, setStateValue } = component;
  const root = parentElement.querySelector("#traces");
  const table = el("table");
  const head = el("tr");
  const json = JSON.stringify(data);
  if (drawn.get(parentElement) === json) return;
  const chosen = ticked.get(parentElement) || new Set();
  ticked.set(parentElement, chosen);
  const tell = () => setStateValue("chosen", [...chosen]);
  const every = el("input", null, null, { type: "checkbox", "aria-label": "Choose every trace on this page" });
  const tick = el("th", "tick", null, { scope: "col" });
  tick.append(every);
  head.append(tick, el("th", "decision", "Decision", { scope: "col" }), el("th", null, "Trace", { scope: "col" }), el("th", "category", "Category", { scope: "col" }));
  for (const column of data.columns) {
    const cell = el("th", `count kind-${column.kind}`, null, { scope: "col", title: `Claims: ${column.word}` });
    cell.append(el("span", "glyph", column.mark, { "aria-hidden": "true" }), el("span", "word", column.word));
    head.append(cell);
  }
  head.append(el("th", "number", "Outputs", { scope: "col" }), el("th", "when", "Added", { scope: "col" }));
  const thead = el("thead");
  thead.append(head);
  const body = el("tbody");
  const boxes = [];
  for (const row of data.rows) {
    const line = el("tr", row.id === data.last ? "last" : null, null, { "data-trace": row.id });
    const box = el("input", null, null, { type: "checkbox", "aria-label": `Choose ${row.id}` });
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(row.id);
      else chosen.delete(row.id);
      tell();
    });
    box.checked = chosen.has(row.id);
    boxes.push([box, row.id]);
    const choose = el("td", "tick");
    choose.addEventListener("click", (event) => event.stopPropagation());
    choose.append(box);
    const decision = el("td");
    const badge = el("span", `badge badge-${row.decision.kind}`);
    badge.append(el("span", "glyph", row.decision.mark, { "aria-hidden": "true" }), el("span", null, row.decision.word));
    decision.append(badge);
    const name = el("td", "trace");
    const link = el("a", "trace-id", row.id, { href: `verdict?${new URLSearchParams({ trace: row.id })}`, title: row.id });
    name.append(link);
    if (row.version > 1) name.append(el("span", "version", `version ${row.version}`, { title: "This trace was added again with other content; the newest version is shown" }));
    for (const mark of row.marks) name.append(el("span", "mark", mark.text, { title: mark.title }));
    name.append(el("span", "question", row.question, { title: row.question }));
    line.append(choose, decision, name, el("td", "category", row.category, { title: row.category }));
    data.columns.forEach((column, at) => {
      const [n, alone] = [row.counts[at], row.alone[at]];
      const cell = el("td", `count kind-${column.kind}${n ? "" : " none"}`, n === null || n === undefined ? "" : String(n), {
        title: n !== alone ? `${n} ${column.word}, by people; ${alone} as the verifier said` : n ? `${n} ${column.word}` : null,
      });
      if (n !== alone) cell.append(el("span", "alone", ` (${alone})`));
      line.append(cell);
    });
    const added = new Date(row.imported);
    line.append(
      el("td", "number", row.sources.toLocaleString("en")),
      el("td", "when", added.toLocaleDateString(undefined, { dateStyle: "medium" }), {
        title: `${added.toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" })} · ${row.imported}`,
      }),
    );
    line.addEventListener("click", (event) => {
      // A new tab is the browser's business; everything else stays in this session.
      if (event.ctrlKey || event.metaKey || event.shiftKey || String(document.getSelection()).length) return;
      event.preventDefault();
      setTriggerValue("open", row.id);
    });
    body.append(line);
  }
  every.addEventListener("change", () => {
    for (const [box, id] of boxes) {
      box.checked = every.checked;
      if (every.checked) chosen.add(id);
      else chosen.delete(id);
    }
    tell();
  });
  const first = !drawn.has(parentElement);
  drawn.set(parentElement, json);
  table.append(thead, body);
  root.replaceChildren(table);
  // What was looked at last is in view again, once.
  const last = first && root.querySelector("tr.last");
  if (last) requestAnimationFrame(() => last.scrollIntoView({ block: "center" }));
}
