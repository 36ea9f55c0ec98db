// The list of traces. Every string becomes a text node; an id reaches a link only as an encoded
// query parameter of a fixed address.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector("#traces");
  const table = el("table");
  const head = el("tr");
  head.append(el("th", null, "Decision", { scope: "col" }), el("th", null, "Trace", { scope: "col" }), el("th", "category", "Category", { scope: "col" }));
  for (const column of data.columns) {
    const cell = el("th", `count kind-${column.kind}`, null, { scope: "col", title: `Claims: ${column.word}` });
    cell.append(el("span", "glyph", column.mark, { "aria-hidden": "true" }), el("span", "word", column.word));
    head.append(cell);
  }
  head.append(el("th", "number", "Outputs", { scope: "col" }), el("th", "when", "Added", { scope: "col" }));
  const thead = el("thead");
  thead.append(head);
  const body = el("tbody");
  for (const row of data.rows) {
    const line = el("tr", null, null, { "data-trace": row.id });
    const decision = el("td");
    const badge = el("span", `badge badge-${row.decision.kind}`);
    badge.append(el("span", "glyph", row.decision.mark, { "aria-hidden": "true" }), el("span", null, row.decision.word));
    decision.append(badge);
    const name = el("td", "trace");
    const link = el("a", "trace-id", row.id, { href: `verdict?${new URLSearchParams({ trace: row.id })}`, title: row.id });
    name.append(link);
    if (row.version > 1) name.append(el("span", "version", `version ${row.version}`, { title: "This trace was added again with other content; the newest version is shown" }));
    name.append(el("span", "question", row.question, { title: row.question }));
    line.append(decision, name, el("td", "category", row.category, { title: row.category }));
    data.columns.forEach((column, at) => {
      const n = row.counts[at];
      line.append(el("td", `count kind-${column.kind}${n ? "" : " none"}`, n === null || n === undefined ? "" : String(n), {
        title: n ? `${n} ${column.word}` : null,
      }));
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
  table.append(thead, body);
  root.replaceChildren(table);
}
