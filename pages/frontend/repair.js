// The repair view: what an answer said and says now, with the reason beside each edit.
//
// Every string in `data` may come from an untrusted tool. It reaches the page through `textContent`
// alone: no markup is parsed, no link is made, nothing is fetched.

const states = new WeakMap();
const ON_AN_EDIT = ["accept_edit", "change_edit", "reject_edit", "source_of_edit"];

function button(text, onClick, attributes, key) {
  const node = el("button", "plain", text, { type: "button", ...attributes });
  if (key) node.append(el("kbd", null, key, { "aria-hidden": "true" }));
  node.addEventListener("click", (event) => { event.stopPropagation(); onClick(); });
  return node;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector("#repair");
  let state = states.get(parentElement);
  if (!state || state.trace !== data.trace.id) {
    state?.cleanup?.(); // else the keys act on the answer before as well
    state = { trace: data.trace.id, chosen: null, mode: "changes", editing: null, source: null, scroll: 0 };
    states.set(parentElement, state);
  }
  const json = JSON.stringify(data);
  state.decide = (action, choice, text) => setTriggerValue("decide", { action, choice, text: text ?? null });
  if (state.json !== json) {
    state.json = json;
    state.data = data;
    state.cleanup?.();
    draw(root, state);
    const onKey = (event) => steer(event, root, state);
    document.addEventListener("keydown", onKey);
    state.cleanup = () => document.removeEventListener("keydown", onKey);
  }
  return state.cleanup;
}

function draw(root, state) {
  const list = root.querySelector(".cards");
  if (list) state.scroll = list.parentElement.scrollTop;
  const { data } = state;
  root.replaceChildren(bar(data), summary(data), keys(data));
  const panes = el("div", "panes");
  panes.append(textPane(root, state), editsPane(root, state));
  state.said = el("div", "said-aloud", null, { role: "status" });
  root.append(panes, drawer(root, state), state.said);
  root.querySelector(".edits .scroll").scrollTop = state.scroll;
}

function bar(data) {
  const line = el("header", "bar");
  const names = el("div", "names");
  names.append(el("h1", "trace-id", data.trace.id, { title: data.trace.id }), el("span", "asked", data.trace.question, { title: data.trace.question }));
  const verdict = el("div", "verdict");
  verdict.append(badge(data.before), el("span", "muted", "→", { "aria-label": "after repair" }), badge(data.after));
  line.append(names, verdict);
  return line;
}

// Every key is named where it works; those of a single edit stand on its buttons as well.
function keys(data) {
  const line = el("p", "keys-line");
  for (const [key, words] of data.keys) {
    const one = el("span");
    one.append(el("kbd", null, key), el("span", null, ` ${words}`));
    line.append(one);
  }
  return line;
}

function badge(look) {
  const node = el("strong", `badge badge-${look.kind}`);
  node.append(el("span", null, look.mark, { "aria-hidden": "true" }), el("span", null, look.word));
  return node;
}

function summary(data) {
  const line = el("div", "summary");
  const figures = el("div", "figures");
  for (const [name, value] of data.figures) {
    const figure = el("span", "figure");
    figure.append(el("span", "label", name), el("span", "value", value));
    figures.append(figure);
  }
  line.append(el("p", "status", data.status), figures);
  return line;
}

// ---------------------------------------------------------------- the text

function textPane(root, state) {
  const { data } = state;
  const pane = el("section", "pane", null, { "aria-label": "Answer" });
  const top = el("div", "pane-bar");
  top.append(el("h2", null, "Answer"));
  for (const [mode, word] of [["changes", "Changes"], ["after", "After"], ["before", "Before"]]) {
    top.append(button(word, () => { state.mode = mode; draw(root, state); }, { "aria-pressed": String(state.mode === mode) }));
  }
  const scroll = el("div", "scroll");
  const text = el("div", "text verbatim");
  if (state.mode === "after") text.append(el("span", null, data.final));
  else for (const piece of data.pieces) {
    if (piece.edit === undefined) text.append(el("span", null, piece.text));
    else if (state.mode === "before") text.append(el("span", null, piece.parts.filter((p) => p.is !== "new").map((p) => p.text).join("")));
    else text.append(changed(root, state, piece));
  }
  scroll.append(text);
  if (state.mode === "after" && data.unverified) scroll.append(el("p", "empty unchecked", "Not verified yet: this text has not been verified as it stands here."));
  pane.append(top, scroll);
  return pane;
}

function changed(root, state, piece) {
  const edit = state.data.edits[piece.edit];
  const node = el("span", `edit kind-${edit.kind}${edit.choice === "reject" ? " rejected" : ""}${state.chosen === edit.id ? " chosen" : ""}`, null, { "data-edit": edit.id, title: edit.reason });
  node.append(...parts(piece.parts));
  if (!edit.minor) {
    const n = numberOf(state, edit);
    const number = el("button", "number", String(n), { type: "button", "aria-label": `Edit ${n}: ${edit.word}` });
    node.append(number);
    node.addEventListener("click", () => choose(root, state, edit.id));
  }
  return node;
}

function numberOf(state, edit) {
  return state.data.edits.filter((one) => !one.minor).indexOf(edit) + 1;
}

function parts(list) {
  return list.map((part) => el({ old: "del", new: "ins", same: "span" }[part.is], null, part.text));
}

// ---------------------------------------------------------------- the edits

function editsPane(root, state) {
  const { data } = state;
  const major = data.edits.filter((edit) => !edit.minor);
  const pane = el("section", "pane edits", null, { "aria-label": "Edits" });
  const top = el("div", "pane-bar");
  const open = major.filter((edit) => !edit.choice).length;
  top.append(el("h2", null, major.length ? `${major.length} edit${major.length === 1 ? "" : "s"}` : "No edits"));
  top.append(el("span", "decided", open ? `${open} to decide` : major.length ? "all decided" : ""));
  if (major.length) top.append(keyHint(data.bound));
  const scroll = el("div", "scroll");
  const cards = el("div", "cards");
  for (const edit of major) cards.append(card(root, state, edit));
  const minor = data.edits.length - major.length;
  if (minor) cards.append(el("p", "minor", `${minor} small change${minor === 1 ? "" : "s"} to numbering, spacing or headings follow from these edits.`));
  if (!data.edits.length) cards.append(el("p", "empty", "Nothing was changed."));
  scroll.append(cards);
  pane.append(top, scroll);
  return pane;
}

// Every key of this page, named where it works.
function keyHint(bound) {
  const line = el("span", "key-hint", null, { title: `${bound.next_edit} or ↓ next edit, ${bound.edit_before} or ↑ the one before; on the chosen edit ${bound.accept_edit} accepts, ${bound.change_edit} edits, ${bound.reject_edit} rejects, ${bound.source_of_edit} shows its source; Esc closes` });
  for (const [keys, words] of [[`${bound.next_edit} ${bound.edit_before}`, "next, before"], [ON_AN_EDIT.map((name) => bound[name]).join(" "), "on the chosen edit"]]) line.append(el("kbd", null, keys), el("span", null, words));
  return line;
}

function card(root, state, edit) {
  const box = el("article", `card kind-${edit.kind}${state.chosen === edit.id ? " chosen" : ""}`, null, { "data-card": edit.id });
  const head = el("header");
  head.append(el("span", "glyph", edit.mark, { "aria-hidden": "true" }), el("h3", null, `${numberOf(state, edit)} · ${edit.word}`));
  if (edit.claims.length) head.append(el("span", "muted small", edit.claims.join(", ")));
  const change = el("p", "change verbatim");
  change.append(...parts(edit.parts));
  box.append(head, change, el("p", "reason", edit.reason));
  if (edit.editor) box.append(el("p", "note", edit.editor));
  if (edit.note) box.append(el("p", "note", edit.note));
  box.append(state.editing === edit.id ? editor(root, state, edit) : choices(root, state, edit));
  box.addEventListener("click", () => { if (state.editing !== edit.id) choose(root, state, edit.id); });
  // Keys act on the edit that is lit, so what is worked on with mouse or tab key is lit.
  for (const event of ["focusin", "pointerdown"]) box.addEventListener(event, () => light(root, state, edit.id));
  return box;
}

function choices(root, state, edit) {
  const line = el("div", "actions");
  const { bound } = state.data;
  line.append(
    button(edit.words[0], () => decide(state, edit, "accept"), { "aria-pressed": String(edit.choice === "accept") }, bound.accept_edit),
    button("Edit", () => { state.editing = edit.id; choose(root, state, edit.id); }, { "aria-pressed": String(edit.choice === "edit") }, bound.change_edit),
    button(edit.words[1], () => decide(state, edit, "reject"), { "aria-pressed": String(edit.choice === "reject") }, bound.reject_edit),
  );
  // A statement that was checked and is wrong goes with one press; its own words are the edit's text.
  if (edit.kind === "mark") line.append(button("Take out", () => decide(state, edit, "edit", ""), { "aria-pressed": String(edit.choice === "edit" && !edit.after) }));
  if (state.data.sources[edit.id]) line.append(button(state.data.sources[edit.id].credited ? `Both sources: ${state.data.sources[edit.id].credited.name} → ${edit.sourceName}` : `Source: ${edit.sourceName}`, () => { state.source = edit.id; choose(root, state, edit.id); }, { "aria-haspopup": "dialog" }, bound.source_of_edit));
  if (edit.choice) line.append(el("span", "decided", `by ${edit.reviewer}`));
  return line;
}

function editor(root, state, edit) {
  const box = el("div", "editor");
  const area = el("textarea", null, null, { "aria-label": "Your wording" });
  area.value = edit.after;
  const line = el("div", "actions");
  line.append(
    button("Keep my wording", () => { state.editing = null; decide(state, edit, "edit", area.value); }),
    button("Cancel", () => { state.editing = null; draw(root, state); }),
  );
  box.append(area, line);
  return box;
}

function decide(state, edit, choice, text) {
  state.said.textContent = `${edit.word}: ${choice}`;
  state.decide(edit.id, choice, text);
}

function light(root, state, id) {
  state.chosen = id;
  for (const node of root.querySelectorAll("[data-card], [data-edit]")) node.classList.toggle("chosen", [node.dataset.card, node.dataset.edit].includes(id));
}

function choose(root, state, id) {
  state.chosen = id;
  draw(root, state);
  root.querySelector(`[data-card="${CSS.escape(id)}"]`)?.scrollIntoView({ block: "nearest" });
  root.querySelector(`[data-edit="${CSS.escape(id)}"]`)?.scrollIntoView({ block: "nearest" });
  if (state.editing === id) root.querySelector("textarea")?.focus();
}

// ---------------------------------------------------------------- the source

function drawer(root, state) {
  const source = state.source && state.data.sources[state.source];
  const box = el("section", "drawer", null, { hidden: !source, role: "dialog", "aria-label": source && source.credited ? "Both sources" : "Source" });
  if (!source) return box;
  box.classList.toggle("both", Boolean(source.credited));
  const top = el("div", "pane-bar");
  const close = button("Close", () => { state.source = null; draw(root, state); }, {}, "Esc");
  const edit = state.data.edits.find((one) => one.id === state.source);
  const head = source.credited ? "What the answer credited, and what says it" : source.name;
  top.append(el("h2", null, head), el("span", "muted small", source.credited ? "" : source.id), close);
  const sides = el("div", "sides");
  if (source.credited) sides.append(sideOf("left", "○ The answer credited", source.credited, "near"));
  sides.append(sideOf("right", source.credited ? "◉ Says it" : "", source, "premise"));
  box.append(top);
  if (source.credited && edit) {
    const change = el("p", "change verbatim both-change");
    change.append(...parts(edit.parts));
    box.append(change);
  }
  box.append(sides);
  requestAnimationFrame(() => {
    for (const mark of box.querySelectorAll(".scroll")) mark.querySelector("mark")?.scrollIntoView({ block: "center" });
  });
  return box;
}

function sideOf(side, role, source, kind) {
  const pane = el("section", "side", null, { "data-side": side, "aria-label": role || source.name });
  if (role) {
    const head = el("p", "side-head");
    head.append(el("span", "side-role", role), el("span", "muted small", source.name, { title: source.id }));
    pane.append(head);
  }
  const scroll = el("div", "scroll");
  const output = el("div", "output verbatim");
  for (const piece of source.pieces) output.append(piece.lit ? el("mark", kind, piece.text, { title: kind === "near" ? "The line nearest to the claim: to find the place, not as evidence" : null }) : el("span", null, piece.text));
  if (kind === "near" && !source.pieces.some((piece) => piece.lit)) scroll.append(el("p", "empty", "Nothing here comes near the claim."));
  scroll.append(output);
  pane.append(scroll);
  return pane;
}

// ---------------------------------------------------------------- keys

function steer(event, root, state) {
  const target = event.composedPath()[0];
  const typing = target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName));
  if (event.key === "Escape" && (state.source || state.editing)) {
    state.source = state.editing = null;
    draw(root, state);
    return;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const major = state.data.edits.filter((edit) => !edit.minor);
  const at = major.findIndex((edit) => edit.id === state.chosen);
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  const { bound } = state.data;
  const name = Object.keys(bound).find((each) => bound[each] === key);
  if (name === "next_edit" || event.key === "ArrowDown") step(event, root, state, major[Math.min(at + 1, major.length - 1)]);
  else if (name === "edit_before" || event.key === "ArrowUp") step(event, root, state, major[Math.max(at - 1, 0)]);
  else if (at < 0) {
    // A key acts only on an edit that is marked as the chosen one: the first press chooses it.
    if (!ON_AN_EDIT.includes(name) || !major.length) return;
    choose(root, state, major[0].id);
    state.said.textContent = "Edit 1 is chosen now: press the key again for it.";
    root.querySelector(".key-hint").textContent = state.said.textContent;
  }
  else if (name === "accept_edit") decide(state, major[at], "accept");
  else if (name === "reject_edit") decide(state, major[at], "reject");
  else if (name === "change_edit") { event.preventDefault(); state.source = null; state.editing = major[at].id; choose(root, state, major[at].id); }
  else if (name === "source_of_edit" && state.data.sources[major[at].id]) { state.source = major[at].id; draw(root, state); }
}

function step(event, root, state, edit) {
  if (!edit) return;
  event.preventDefault();
  if (state.source) state.source = state.data.sources[edit.id] ? edit.id : null;
  choose(root, state, edit.id);
}
