// Words that a person or a project wants lit. They are ranges over the text that stands there already:
// no node is added, so what is copied, searched and scrolled to stays as it is. Whole words, any case.

const LIT = "lit-words";
const LIT_PLACES = ".claim-text, .output pre";
const REMEMBERED = "provenanceguard-words";

const asWritten = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function wordsPattern(words) {
  const longest = [...words].sort((a, b) => b.length - a.length);
  const parts = longest.map((word) => word.split(/\s+/).map(asWritten).join("\\s+"));
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${parts.join("|")})(?![\\p{L}\\p{N}_])`, "giu");
}

function wordsIn(text, words) {
  return words.length ? [...text.matchAll(wordsPattern(words))] : [];
}

const areLit = () => { try { return localStorage.getItem(REMEMBERED) !== "off"; } catch { return true; } };

function toggleWords(state, redraw) {
  if (!(state.data.words || []).length) return;
  try { localStorage.setItem(REMEMBERED, areLit() ? "off" : "on"); } catch { return; }
  redraw();
  state.light?.();
}

// The switch with the count; `places` are [name, text], `more`: other texts have not been fetched yet.
function wordsTool(state, places, more, redraw) {
  const words = state.data.words || [];
  if (!words.length) return [];
  const lines = [];
  let total = 0;
  for (const [name, text] of places) {
    const counts = new Map();
    for (const [found] of wordsIn(text || "", words)) {
      const word = found.toLocaleLowerCase().replace(/\s+/g, " ");
      counts.set(word, (counts.get(word) || 0) + 1);
      total += 1;
    }
    if (counts.size) lines.push(`${name}: ${[...counts].map(([word, n]) => `${word} ${n}`).join(", ")}`);
  }
  const lit = areLit();
  const node = button(`text words-switch${lit ? " lit" : ""}`, null, () => toggleWords(state, redraw), {
    "aria-pressed": String(lit), "aria-keyshortcuts": state.data.keys.words,
    title: [`${lit ? "Highlighted" : "Not highlighted"}: ${many(words.length, "word")} of the list (Settings, Highlighted words)`, ...lines, ...(more ? ["Not counted: sources that were not opened yet"] : [])].join("\n"),
  });
  node.append(el("span", "words-name", "Words"), el("span", "words-count", ` ${total}${more ? "+" : ""}`), el("kbd", null, state.data.keys.words));
  return [node];
}

// Lights them again whenever something was drawn anew.
function watchWords(root, state) {
  let asked = 0;
  state.light = () => {
    if (!globalThis.CSS?.highlights) return;
    const words = areLit() ? state.data?.words || [] : [];
    const ranges = words.length ? [...root.querySelectorAll(LIT_PLACES)].flatMap((place) => rangesIn(place, words)) : [];
    if (ranges.length) CSS.highlights.set(LIT, new Highlight(...ranges)); else CSS.highlights.delete(LIT);
  };
  const observer = new MutationObserver(() => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(() => state.light());
  });
  observer.observe(root, { childList: true, subtree: true });
  state.light();
  return () => { observer.disconnect(); cancelAnimationFrame(asked); globalThis.CSS?.highlights?.delete(LIT); };
}

function rangesIn(place, words) {
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  const nodes = [];
  let text = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push([text.length, node]);
    text += node.data;
  }
  const at = (offset, end) => {
    let found = 0;
    while (found + 1 < nodes.length && (end ? nodes[found + 1][0] < offset : nodes[found + 1][0] <= offset)) found += 1;
    return [nodes[found][1], offset - nodes[found][0]];
  };
  return wordsIn(text, words).map((match) => {
    const range = new Range();
    range.setStart(...at(match.index, false));
    range.setEnd(...at(match.index + match[0].length, true));
    return range;
  });
}
