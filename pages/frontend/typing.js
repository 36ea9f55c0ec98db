// Keys and fields: what is typed is text from the moment a field is asked for until it is left, and a key
// pressed in a control belongs to that control. `data.opens` lists what a key or a button opens:
// {key, button, awaits}.
//
// A page that is being drawn still shows the drawing before, and Streamlit acts on its buttons: they open
// what they say. `watch.noting` is the field that was asked for and not left since, wherever the cursor is.

const PATIENCE_MS = 10000;
const IDLE_MS = 1500; // a page that is drawn, and does not show what was asked for, will not
const LOOK_MS = 100;
const CONTROLS = ".st-key-row-notes, .st-key-person, [role=radiogroup], [role=listbox], [data-testid=stPopoverBody], [data-testid=stDialog]";

function guardTyping(state) {
  const watch = {};
  const onKey = (event) => hold(event, state, watch);
  const onBubble = (event) => { if (inControl(event) && !withModifier(event)) event.stopPropagation(); };
  const onClick = (event) => clicked(event, state, watch);
  // With the tab key somebody leaves a field for a control; what a drawing takes away focuses nothing.
  const onFocus = (event) => { if (watch.noting && !watch.opening && !isField(event.composedPath()[0])) watch.noting = null; };
  window.addEventListener("keydown", onKey, true);
  // Between what draws the page and the document, where Streamlit's shortcuts listen.
  document.body.addEventListener("keydown", onBubble);
  document.body.addEventListener("click", onClick);
  document.body.addEventListener("focusin", onFocus);
  return () => {
    release(watch);
    window.removeEventListener("keydown", onKey, true);
    document.body.removeEventListener("keydown", onBubble);
    document.body.removeEventListener("click", onClick);
    document.body.removeEventListener("focusin", onFocus);
  };
}

const withModifier = (event) => event.ctrlKey || event.metaKey || event.altKey;
const isField = (node) => Boolean(node.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName || ""));
const inControl = (event) => Boolean(event.target instanceof Element && event.target.closest(CONTROLS));
const keyOf = (event) => (event.key.length === 1 ? event.key.toUpperCase() : event.key);

function hold(event, state, watch) {
  if (withModifier(event) || !state.data) return;
  if (watch.opening) { keep(event, watch); return; }
  const node = event.composedPath()[0];
  const home = state.parts.box;
  if (event.key === "Escape" && (watch.noting || inControl(event))) { watch.noting = null; node.blur(); home?.focus(); return; }
  if (isField(node) || inControl(event)) return;
  if (watch.noting && shown(watch.noting)) {
    awaitOpening(watch.noting, watch, home);
    keep(event, watch);
    arrived(watch);
    return;
  }
  watch.noting = null;
  const asked = (state.data.opens || []).filter((each) => each.key === keyOf(event));
  const opening = asked.find((each) => buttons(each).some(isFresh)) ||
    asked.find((each) => buttons(each).length || (isNote(each) && isDrawing()));
  if (!opening) return;
  const open = shown(opening);
  if (!open) { awaitOpening(opening, watch, home); return; }
  stop(event);
  if (isField(open)) { watch.noting = opening; open.focus(); }
}

// What an older drawing left stays in the page until the newer one is whole.
const isFresh = (node) => !node.closest("[data-stale=true]");
const isDrawing = () => !document.querySelector("[data-testid=stApp][data-test-script-state=notRunning]");
const isNote = (opening) => opening.awaits.endsWith("textarea");
const within = (selector) => [...document.querySelectorAll(selector)];
// The buttons that open it: what cannot be pressed is not waited for.
const buttons = (opening) => within(`${opening.button} button:not([disabled])`);
// What the key opens, where it is open now.
const shown = (opening) => within(opening.awaits).find((node) =>
  isField(node) || node.querySelector("[data-stale=false]"));

function clicked(event, state, watch) {
  const node = event.target instanceof Element ? event.target : null;
  if (!node || !event.detail) return;
  if (!node.closest(".st-key-row-notes")) watch.noting = null;
  const opening = (state.data?.opens || []).find((each) => node.closest(each.button) && buttons(each).length);
  if (opening && !shown(opening)) awaitOpening(opening, watch, state.parts.box);
  // After a choice with the mouse the page's keys are meant again.
  if (node.closest(".st-key-row-notes [role=radiogroup]")) requestAnimationFrame(() => state.parts.box?.focus());
}

function awaitOpening(opening, watch, home) {
  release(watch);
  watch.home = home;
  watch.opening = opening;
  watch.noting = isNote(opening) ? opening : null;
  watch.typed = "";
  watch.observer = new MutationObserver(() => arrived(watch));
  watch.observer.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-stale"] });
  let waited = 0, idle = 0;
  watch.timer = setInterval(() => {
    waited += LOOK_MS;
    idle = isDrawing() || watch.settling ? 0 : idle + LOOK_MS;
    if (waited >= PATIENCE_MS || idle >= IDLE_MS) release(watch);
  }, LOOK_MS);
}

function keep(event, watch) {
  stop(event);
  if (event.key === "Escape") { leave(watch); return; }
  if (event.repeat || watch.leaving) return;
  if (event.key.length === 1) watch.typed += event.key;
  else if (event.key === "Enter") watch.typed += "\n";
  else if (event.key === "Backspace") watch.typed = watch.typed.slice(0, -1);
}

// Escape leaves the field as soon as all that was typed stands in it; keys in between are nobody's.
function leave(watch) {
  watch.leaving = true;
  const node = watch.settling && within(watch.opening.awaits)[0];
  if (node && document.activeElement === node && node.value === watch.before + watch.typed) settled(watch, node);
}

function settled(watch, node) {
  const { leaving, home } = watch;
  release(watch);
  if (leaving) { watch.noting = null; node.blur(); home?.focus(); }
}

function arrived(watch) {
  const node = watch.opening && shown(watch.opening);
  if (!node || !isFresh(node) || watch.settling) return;
  if (!isField(node)) { release(watch); return; }
  watch.settling = true;
  watch.before = node.value;
  watch.observer.disconnect();
  settle(watch);
}

// A field that has just appeared is given its own text once more: what was typed goes in until it stays.
function settle(watch) {
  const node = watch.opening && within(watch.opening.awaits)[0];
  if (!node) { release(watch); return; }
  const wanted = watch.before + watch.typed;
  if (document.activeElement === node && node.value === wanted && watch.stays) { settled(watch, node); return; }
  watch.stays = node.value === wanted;
  node.focus();
  if (!watch.stays) {
    // Set as the browser does, so that the page takes it for typing.
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(node), "value").set.call(node, wanted);
    node.dispatchEvent(new Event("input", { bubbles: true }));
  }
  requestAnimationFrame(() => requestAnimationFrame(() => settle(watch)));
}

function release(watch) {
  watch.observer?.disconnect();
  clearInterval(watch.timer);
  Object.assign(watch, { opening: null, observer: null, typed: "", before: "", settling: false, stays: false, leaving: false });
}

function stop(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}
