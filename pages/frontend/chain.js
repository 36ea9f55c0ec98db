// What a calibrator rests on, link by link. Every string becomes a text node.

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector("#chain");
  const list = el("ol", null, null, { "aria-label": data.label });
  data.links.forEach((link, at) => {
    if (at) list.append(el("li", "arrow", "→", { "aria-hidden": "true" }));
    const box = el("li");
    box.append(el("h3", null, link.title), el("p", "main", link.main));
    for (const line of link.more) box.append(el("p", "more", line));
    list.append(box);
  });
  root.replaceChildren(list);
}
