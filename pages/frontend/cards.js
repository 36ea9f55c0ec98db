// Cards of plain text: every string becomes a text node, whatever it looks like.

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector("#cards");
  root.replaceChildren();
  for (const card of data.cards) {
    const box = el("section", `card tone-${card.tone || "quiet"}`);
    const head = el("header");
    if (card.mark) head.append(el("span", "glyph", card.mark));
    if (card.title) head.append(el("h2", null, card.title));
    if (card.aside) head.append(el("span", "aside", card.aside));
    if (head.childElementCount) box.append(head);
    if (card.text) box.append(el("p", "text", card.text));
    if (card.facts && card.facts.length) {
      const list = el("dl");
      for (const [name, value] of card.facts) list.append(el("dt", null, name), el("dd", null, value));
      box.append(list);
    }
    for (const group of card.lists || []) {
      const details = el("details");
      details.open = Boolean(group.open);
      details.append(el("summary", null, group.title));
      const list = el("ul");
      for (const item of group.items) list.append(el("li", null, item));
      details.append(list);
      box.append(details);
    }
    root.append(box);
  }
}
