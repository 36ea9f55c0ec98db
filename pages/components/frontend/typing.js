// Keys and fields: what is typed is text from the moment a field is asked for, and a key pressed in a
// control belongs to that control. `data.opens` lists what a key or a button opens: {key, button, awaits}.

const PATIENCE_MS = 10000;
const CONTROLS = ".st-key-row-notes, .st-key-person, [role=radiogroup], [role=listbox], [data-testid=stPopoverBody], [data-testid=stDialog]";

function guardTyping(state) {
  const watch = {};
  const onKey = (event) => hold(event, state, watch);
  const onBubble = (event) => { if (inControl(event) && !withModifier(event)) event.stopPropagation(); };
  const onClick = (event) => clicked(event, state, watch);
  window.addEventListener("keydown", onKey, true);
  // Between what draws the page and the document, where Streamlit's shortcuts listen.
  document.body.addEventListener("keydown", onBubble);
  document.body.addEventListener("click", onClick);
  return () => {
    release(watch);
    window.removeEventListener("keydown", onKey, true);
    document.body.removeEventListener("keydown", onBubble);
    document.body.removeEventListener("click", onClick);
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
  if (event.key === "Escape" && inControl(event)) { node.blur(); state.parts.box?.focus(); return; }
  if (isField(node) || inControl(event)) return;
  const opening = (state.data.opens || []).find((each) => each.key === keyOf(event) && live(each));
  if (!opening) return;
  const open = document.querySelector(opening.awaits);
  if (!open) { awaitOpening(opening, watch); return; }
  stop(event);
  if (isField(open)) open.focus();
}

// Whether the button is there and can be pressed: what cannot open is not waited for.
const live = (opening) => Boolean(document.querySelector(`${opening.button} button:not([disabled])`));

function clicked(event, state, watch) {
  const node = event.target instanceof Element ? event.target : null;
  if (!node || !event.detail) return;
  const opening = (state.data?.opens || []).find((each) => node.closest(each.button) && live(each));
  if (opening && !document.querySelector(opening.awaits)) awaitOpening(opening, watch);
  // After a choice with the mouse the page's keys are meant again.
  if (node.closest(".st-key-row-notes [role=radiogroup]")) requestAnimationFrame(() => state.parts.box?.focus());
}

function awaitOpening(opening, watch) {
  release(watch);
  watch.opening = opening;
  watch.typed = "";
  watch.observer = new MutationObserver(() => arrived(watch));
  watch.observer.observe(document.body, { childList: true, subtree: true });
  watch.timer = setTimeout(() => release(watch), PATIENCE_MS);
}

function keep(event, watch) {
  stop(event);
  if (event.repeat) return;
  if (event.key.length === 1) watch.typed += event.key;
  else if (event.key === "Enter") watch.typed += "\n";
  else if (event.key === "Backspace") watch.typed = watch.typed.slice(0, -1);
}

function arrived(watch) {
  const node = watch.opening && document.querySelector(watch.opening.awaits);
  if (!node || watch.settling) return;
  if (!isField(node)) { release(watch); return; }
  watch.settling = true;
  watch.observer.disconnect();
  settle(watch, node.value);
}

// A field that has just appeared is given its own text once more: what was typed goes in until it stays.
function settle(watch, before) {
  const node = watch.opening && document.querySelector(watch.opening.awaits);
  if (!node) { release(watch); return; }
  const wanted = before + watch.typed;
  if (document.activeElement === node && node.value === wanted && watch.stays) { release(watch); return; }
  watch.stays = node.value === wanted;
  node.focus();
  if (!watch.stays) {
    // Set as the browser does, so that the page takes it for typing.
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(node), "value").set.call(node, wanted);
    node.dispatchEvent(new Event("input", { bubbles: true }));
  }
  requestAnimationFrame(() => requestAnimationFrame(() => settle(watch, before)));
}

function release(watch) {
  watch.observer?.disconnect();
  clearTimeout(watch.timer);
  Object.assign(watch, { opening: null, observer: null, typed: "", settling: false, stays: false });
}

function stop(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}
