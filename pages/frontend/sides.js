// Two sources side by side: what the verdict and the review pages share of it. Every string may come
// from an untrusted tool: it reaches the page as text alone.

// A list that any number of sources fits in; `options` are {id, words}, in the order of the page.
function sourcePicker(options, chosen, label, onPick) {
  const node = el("select", "picker", null, { "aria-label": label });
  for (const { id, words } of options) node.append(el("option", null, words, { value: id, selected: id === chosen }));
  node.title = options.find((each) => each.id === chosen)?.words || "";
  node.addEventListener("change", () => onPick(node.value));
  return node;
}

// A pane that stands beside another: what its source is to the claim, which one, and its output.
function sidePane(side, role, nodes) {
  const pane = el("section", `side side-${side}`, null, { "aria-label": role, "data-side": side });
  const head = el("div", "side-head");
  head.append(el("span", "side-role", role), ...nodes);
  const box = el("div", "output scroll own-arrows", null, { tabindex: "0", "aria-label": `${role}: the source's output`, "data-testid": `output-${side}` });
  pane.append(head, box);
  return { pane, box };
}

// What a pane opens at, most telling first.
const PLACES = [".fact", ".cited-place", ".premise.against", ".premise.value", ".premise", ".near", ".value"];

function openAtPlace(box) {
  const place = PLACES.map((each) => box.querySelector(`mark${each}`)).find(Boolean);
  bringIntoView(box, place, 0.3);
  return Boolean(place);
}
