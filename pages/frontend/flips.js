// Claims that are decided differently, each a link to where it is looked at. Every string becomes a
// text node; ids reach a link only as encoded query parameters of a fixed address.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector("#flips");
  const table = el("table");
  const head = el("tr");
  for (const [name, word] of [["effect", "What changes"], ["claim", "Claim"], ["support", "Support"], ["trace", "Trace"]]) {
    head.append(el("th", name, word, { scope: "col" }));
  }
  const thead = el("thead");
  thead.append(head);
  const body = el("tbody");
  for (const row of data.rows) {
    const line = el("tr", null, null, { "data-claim": row.id });
    const effect = el("td");
    effect.append(el("span", `tone-${row.tone}`, `${row.mark} ${row.effect}`));
    const claim = el("td");
    const link = el("a", null, row.text, { href: `${data.page}?${new URLSearchParams(row.query)}`, title: row.id });
    link.addEventListener("click", (event) => {
      // A new tab is the browser's business; everything else stays in this session.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      setTriggerValue("open", row.id);
    });
    claim.append(link);
    line.append(effect, claim, el("td", "support", row.support), el("td", "trace", row.trace));
    body.append(line);
  }
  table.append(thead, body);
  root.replaceChildren(table);
}
