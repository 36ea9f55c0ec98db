// The keys of one person: press a key's button, then the key that it is to become. Whether that can be
// is decided by the page, which says why not.

const views = new WeakMap();
const MODIFIERS = ["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock", "Dead"];

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector("#keys");
  let state = views.get(parentElement);
  if (!state) {
    state = { waiting: null };
    views.set(parentElement, state);
  }
  const said = JSON.stringify(data);
  if (state.said === said) return;
  const answered = state.said && state.asked;
  Object.assign(state, { said, data, tell: (name, value) => setTriggerValue(name, value) });
  state.waiting = null;
  draw(root, state);
  // The focus stays where the person works, though its row was drawn anew.
  if (answered) rowButton(root, state.asked)?.focus();
  state.asked = null;
}

const rowButton = (root, name) => [...root.querySelectorAll("[data-change]")].find((node) => node.dataset.change === name);

function draw(root, state) {
  const { data } = state;
  root.replaceChildren();
  const top = el("div", "top");
  top.append(el("p", "muted", data.words));
  const all = el("button", "plain", "All keys as shipped", { type: "button", disabled: !data.changed });
  all.addEventListener("click", () => { state.asked = null; state.tell("reset", true); });
  top.append(all);
  state.live = el("p", "said-aloud", null, { role: "status" });
  root.append(top, state.live);
  const groups = el("div", "groups");
  for (const group of data.groups) {
    const box = el("section", "group");
    box.append(el("h2", null, group.title));
    const table = el("table");
    for (const row of group.rows) table.append(...line(state, row));
    box.append(table);
    groups.append(box);
  }
  root.append(groups);
}

function line(state, row) {
  const { refused } = state.data;
  const node = el("tr", row.changed ? "changed" : null);
  const cell = el("td", "key");
  if (row.movable) {
    const change = el("button", "plain", null, {
      type: "button", "data-change": row.name, "aria-label": `${row.words}: ${row.shown}. Change this key`,
    });
    change.append(el("kbd", null, row.shown));
    change.addEventListener("click", () => listen(state, row, change));
    change.addEventListener("keydown", (event) => { if (state.waiting === row.name) take(event, state, row, change); });
    change.addEventListener("blur", () => { if (state.waiting === row.name) stopListening(state, row, change); });
    cell.append(change);
  } else cell.append(el("kbd", "fixed", row.shown));
  const words = el("td", "words", row.words);
  if (row.changed) words.append(el("span", "was", `shipped: ${row.shipped}`));
  node.append(cell, words);
  if (!refused || refused.name !== row.name) return [node];
  const said = el("tr", "refusal");
  const why = el("td", null, null, { colspan: "2" });
  why.append(el("span", "why", `Not changed. ${refused.reason}`));
  if (refused.swap) {
    const swap = el("button", "plain", refused.swap, { type: "button" });
    swap.addEventListener("click", () => { state.asked = row.name; state.tell("swap", { name: row.name, other: refused.other }); });
    why.append(swap);
  }
  said.append(why);
  state.live.textContent = why.textContent;
  return [node, said];
}

// The row is changed in place: a button that is drawn anew has lost the focus.
function listen(state, row, node) {
  state.waiting = row.name;
  node.classList.add("waiting");
  node.replaceChildren(el("span", null, "press a key …"));
  state.live.textContent = `Press the key for: ${row.words}. Escape leaves it as it is.`;
}

function stopListening(state, row, node) {
  state.waiting = null;
  node.classList.remove("waiting");
  node.replaceChildren(el("kbd", null, row.shown));
}

function take(event, state, row, node) {
  if (MODIFIERS.includes(event.key)) return;
  // Tab leaves as everywhere: nobody is held here.
  if (event.key === "Tab") return;
  event.preventDefault();
  event.stopPropagation();
  if (event.key === "Escape") { stopListening(state, row, node); return; }
  const held = [[event.ctrlKey, "Ctrl"], [event.metaKey, "Cmd"], [event.altKey, "Alt"]].filter(([down]) => down).map(([, name]) => name);
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  state.asked = row.name;
  stopListening(state, row, node);
  state.tell("bind", { name: row.name, key: [...held, key].join("+") });
}
