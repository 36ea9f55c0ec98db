// In which order the page's buttons were pressed: Streamlit may hand over later presses first. Each is
// numbered and sent with the press itself. `data.buttons` lists the keys that buttons listen to.

const PRESSES_KEPT = 24;

function notePress(state, name) {
  const at = Math.max(Date.now(), (state.order?.at(-1)?.at ?? 0) + 1);
  state.order = [...(state.order || []), { at, name }].slice(-PRESSES_KEPT);
  state.sendOrder(state.order);
}

function watchPresses(state) {
  const onKey = (event) => {
    if (withModifier(event) || event.repeat || !state.data) return;
    if (isField(event.composedPath()[0]) || inControl(event)) return;
    // With Shift a source's key opens it and answers nothing.
    const source = event.shiftKey && state.data.sources.find((each) => each.key === keyOf(event));
    if (source) { stop(event); choose(state, source.id); return; }
    if ((state.data.buttons || []).includes(keyOf(event))) notePress(state, keyOf(event));
  };
  const onClick = (event) => {
    const pressed = event.target instanceof Element && event.target.closest(".st-key-bar button");
    const widget = pressed && [...pressed.closest("[class*=st-key-]").classList].find((each) => each.startsWith("st-key-"));
    if (widget) notePress(state, widget.slice("st-key-".length));
  };
  // After the guard of typing, which keeps keys that are text; before Streamlit hears of the key.
  window.addEventListener("keydown", onKey, true);
  window.addEventListener("click", onClick, true);
  return () => {
    window.removeEventListener("keydown", onKey, true);
    window.removeEventListener("click", onClick, true);
  };
}
