// What several views draw alike. Every string becomes a text node: no markup is parsed.

function button(className, text, onClick, attributes) {
  const node = el("button", className, text, { type: "button", ...attributes });
  node.addEventListener("click", onClick);
  return node;
}

const two = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));
const percent = (share) => `${Math.round(share * 100)} %`;
const many = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
// What the NLI model took a source and a claim for, which may be wrong.
const RELATION = { entailment: "saying it", neutral: "silent", contradiction: "saying otherwise" };

// Scrolls one box and never the page.
function bringIntoView(box, node, share) {
  if (!node) { box.scrollTop = 0; return; }
  const top = node.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
  const bottom = top + node.getBoundingClientRect().height;
  if (top >= box.scrollTop + 8 && bottom <= box.scrollTop + box.clientHeight - 8) return;
  box.scrollTop = Math.max(0, top - box.clientHeight * share);
}

// A long tool name is cut before the number of its call, never in it.
function sourceName(tag, source) {
  const node = el(tag, "source-name", null, { title: source.id });
  node.append(el("span", "tool", source.tool));
  if (source.call) node.append(el("span", "call", source.call));
  return node;
}

// Cuts one stretch of text where marks begin and end; the nodes' text joins to the stretch.
function appendMarked(body, part, marks) {
  const end = part.start + part.text.length;
  const cuts = new Set([part.start, end]);
  for (const mark of marks) for (const at of [mark.start, mark.end]) if (at > part.start && at < end) cuts.add(at);
  const sorted = [...cuts].sort((a, b) => a - b);
  for (let i = 0; i + 1 < sorted.length; i += 1) {
    const [from, to] = [sorted[i], sorted[i + 1]];
    const text = part.text.slice(from - part.start, to - part.start);
    const here = marks.filter((mark) => mark.start <= from && mark.end >= to);
    if (!here.length) { body.append(document.createTextNode(text)); continue; }
    const node = el("mark", null, text);
    for (const mark of here) {
      node.classList.add(...mark.kind.split(" "));
      if (["value", "nearest", "hit", "against"].includes(mark.kind)) {
        if (mark.start === from) node.classList.add("opens");
        if (mark.end === to) node.classList.add("closes");
      }
    }
    if (node.classList.contains("near")) node.title = "The line here that is nearest to the claim: shown to find the place, not as evidence";
    if (node.classList.contains("looked")) node.title = "The model looked here: a hint where, not a reason why";
    if (node.classList.contains("against")) node.title = "This speaks against the claim";
    if (node.classList.contains("nearest")) node.title = "Nearest value here to the one that the claim states";
    for (const mark of here) if (mark.by) node.title = `Marked by ${mark.by}`;
    if (node.classList.contains("judged")) node.title = "The judge quotes this";
    body.append(node);
  }
}

function alignmentTable(claim) {
  if (!claim.tokens) return [];
  const details = el("details", "alignment");
  details.append(el("summary", null, `Values for each word (similar words there: ${percent(claim.tokens.ratio)})`, { title: "Alignment score a_i of each word of the claim, from the NLI model's attention" }));
  const table = el("table");
  const names = el("tr");
  names.append(el("th", null, "Word", { scope: "col" }), el("th", null, "Looked at", { scope: "col" }), el("th", null, "Similar words there", { scope: "col" }));
  table.append(names);
  for (const word of claim.words) {
    const row = el("tr");
    row.append(el("td", null, word.text), el("td", "n", word.score.toFixed(4)), el("td", null, word.weak ? "few" : "yes"));
    table.append(row);
  }
  details.append(table);
  return [details];
}

// Four steps that can be told apart, by shade and by the line below; relative to the claim's highest.
const lookStep = (share) => (share >= 0.75 ? 4 : share >= 0.5 ? 3 : share >= 0.25 ? 2 : 1);

// Where the NLI model looked, said plainly: the claim's words are shaded, and the words of the
// source that they looked at are underlined, the thicker the more.
function lookLegend(claim) {
  const caption = el("p", "caption look-legend", null, {
    title: "Heuristic: token alignment from the NLI model's attention, one value a word (weakly grounded words of the claim are dotted; words of the source are underlined). No explanation of the verdict.",
  });
  for (const step of [1, 2, 3, 4]) caption.append(el("span", `swatch look-${step}`, null, { "aria-hidden": "true" }));
  caption.append(el("span", null, "where the model looked: a hint, not a reason why"));
  return caption;
}

// A figure in plain words; ``term`` is what the field calls it, for the hint.
function figure(name, value, detail, share, { bad = false, term = "" } = {}) {
  const node = el("div", `figure${bad ? " bad" : ""}`, null, { title: [term, detail].filter(Boolean).join("\n") });
  node.append(el("span", "figure-name", name), el("span", "figure-value", value));
  if (share !== undefined) {
    const meter = el("span", "meter", null, { "aria-hidden": "true" });
    const fill = el("span", "meter-fill");
    fill.style.setProperty("--share", String(Math.max(0, Math.min(1, share))));
    meter.append(fill);
    node.append(meter);
  }
  node.append(el("span", "figure-detail", detail));
  return node;
}

function nliScore(nli) {
  const node = el("div", "figure", null, { title: `Natural language inference: entailment ${two(nli.entailment)}, neutral ${two(nli.neutral)}, contradiction ${two(nli.contradiction)}` });
  node.append(el("span", "figure-name", "The model reads it as"), el("span", "figure-value", RELATION[nli.relation] || nli.relation));
  const meter = el("span", "meter split", null, { "aria-hidden": "true" });
  for (const label of ["entailment", "neutral", "contradiction"]) {
    const share = el("span", `share rel-${label}`);
    share.style.setProperty("--share", String(nli[label]));
    meter.append(share);
  }
  const detail = `saying it ${percent(nli.entailment)} · silent ${percent(nli.neutral)} · otherwise ${percent(nli.contradiction)}`;
  node.append(meter, el("span", "figure-detail", detail));
  return node;
}

// The claim with its words shaded by alignment and its values boxed.
function claimNodes(claim) {
  const before = claim.context ? { "data-context": claim.context } : {};
  const line = el("p", `claim-text kind-${claim.kind}`, null, { "data-testid": "claim", ...before });
  for (const piece of claim.pieces) {
    const classes = ["piece"];
    if (piece.weak) classes.push("weak");
    if (piece.value) classes.push("value", piece.value, piece.opens ? "opens" : "", piece.closes ? "closes" : "");
    const node = el("span", classes.join(" ").trim(), piece.text);
    if (piece.share !== undefined) {
      node.classList.add(`look-${lookStep(piece.share)}`);
      node.title = `${piece.weak ? "Few similar words in the source. " : ""}Looked at ${percent(piece.share)} as much as the most looked-at word`;
    }
    if (piece.value === "missing") {
      node.title = `Not found in the source${piece.nearest ? `; nearest there: ${piece.nearest}` : ""}. ${node.title}`;
    }
    if (piece.value === "unwritten") {
      node.title = `Not written in the source, which may say it in other words: this lowers the support. ${node.title}`;
    }
    line.append(node);
    if (piece.value === "missing" && piece.closes && piece.nearest) {
      line.append(el("span", "nearest-note", `source: ${piece.nearest}`));
    }
  }
  return claim.tokens ? [line, lookLegend(claim)] : [line];
}

// The decision with its first reason, and all else behind one fold, which lies over what is above it.
function whyNodes(state, claim, by = "", more = []) {
  const words = el("div", "why-words");
  const head = el("p", "headline");
  head.append(el("span", "glyph", claim.mark, { "aria-hidden": "true" }), el("span", "headline-text", `${by}${claim.headline}`));
  if (claim.because) head.append(el("span", "because", claim.because));
  words.append(head);
  const fold = el("details", "why-fold", null, { open: Boolean(state.figures) });
  fold.addEventListener("toggle", () => {
    state.figures = fold.open;
    fold.closest("#evidence, #review")?.classList.toggle("figured", fold.open);
  });
  const summary = el("summary", null, "Reasons and figures", { "aria-keyshortcuts": state.data.keys.figures });
  summary.append(el("kbd", null, state.data.keys.figures));
  const box = el("div", "why-more own-arrows", null, { tabindex: "0", role: "group", "aria-label": "Reasons and figures" });
  const list = el("ul", "reasons");
  for (const reason of claim.reasons) list.append(el("li", null, reason));
  box.append(list, figuresOf(claim), ...movedNodes(claim), ...alignmentTable(claim), ...more);
  fold.append(summary, box);
  return [words, fold];
}

// What moved the chance of support most, in words: for it, then against it.
function movedNodes(claim) {
  const part = (label, towards) => {
    const words = (claim.moved || []).filter((each) => each.for === towards).map((each) => each.words);
    if (!words.length) return [];
    const line = el("p", "credit-line", null, { "data-testid": "moved" });
    line.append(el("span", "label", label), el("span", null, words.join("; ")));
    return [line];
  };
  return [...part("Spoke for it most:", true), ...part("Spoke against it most:", false)];
}

function toggleFigures(state) {
  const fold = (state.parts.below || state.parts.why).querySelector(".why-fold");
  if (fold) fold.open = !fold.open;
}

// What the verifier measured for one claim.
function figuresOf(claim) {
  const figures = el("div", "figures");
  if (claim.score !== null) {
    const next = claim.ranking.length > 1 ? `next best source ${two(claim.score - claim.margin)}` : "the only source";
    figures.append(figure("Match with source", two(claim.score), next, claim.score, { term: `Routing score ${two(claim.score)}, lead ${two(claim.margin)}: how near the claim is to this source in meaning, 0 to 1` }));
  }
  if (claim.nli) figures.append(nliScore(claim.nli));
  if (claim.support !== null && claim.threshold !== null) {
    const enough = claim.support >= claim.threshold;
    const node = figure("Chance of support", claim.support_words[0], `${enough ? "enough" : "too low"}: ${claim.support_words[1]} needed`, claim.support, { term: [`Calibrated support probability ${claim.support_words[0]}, threshold ${claim.support_words[1]}`, claim.likelihood].filter(Boolean).join(". ") });
    const tick = el("span", "tick");
    tick.style.setProperty("--share", String(claim.threshold));
    node.querySelector(".meter").append(tick);
    figures.append(node);
  }
  if (claim.values.length) {
    const found = claim.values.filter((value) => value.present).length;
    const missing = claim.values.filter((value) => !value.present);
    // Counted is what stands anywhere in the text; whether it is said of this, the checks tell.
    const elsewhere = claim.values.filter((value) => value.present && value.elsewhere);
    const details = [
      ...(missing.length ? [`missing: ${missing.map((value) => value.nearest ? `${value.text} (source: ${value.nearest})` : value.text).join(", ")}`] : []),
      ...(elsewhere.length ? [`in the text, but not found as a fact about this: ${elsewhere.map((value) => value.text).join(", ")}`] : []),
    ];
    const term = "Protected values: numbers, dates, names and identifiers that must stand somewhere in the source's text; whether they are said of what the claim speaks of is for the checks";
    figures.append(figure("Exact values", `${found} of ${claim.values.length}`, details.join("; ") || "all in its text", found / claim.values.length, { bad: missing.length > 0, term }));
  }
  if (claim.unwritten.length) {
    figures.append(figure("Not written as such", String(claim.unwritten.length), `${claim.unwritten.join(", ")}: lowers the support, does not block`));
  }
  return figures;
}

// `line` makes the node of a quote.
function judgeNodes(claim, line) {
  const { judge } = claim;
  if (!judge) return [];
  const box = el("div", "checks judge", null, { "data-testid": "judge" });
  const word = el("p", `judge-word ${judge.tone}`);
  word.append(el("span", "glyph", judge.mark, { "aria-hidden": "true" }), el("span", "check-text", judge.word), el("span", "judge-name", `read by ${judge.by}`));
  box.append(word);
  const list = el("ul");
  for (const each of judge.failed) list.append(el("li", "missed", each));
  judge.quotes.forEach((quote, at) => {
    const item = el("li");
    item.append(line(quote, at));
    list.append(item);
  });
  for (const each of judge.calculations) list.append(el("li", "calculation", each));
  const more = [judge.offline, judge.why && `“${judge.why}”`, judge.credit];
  box.append(list, ...more.filter(Boolean).map((words) => el("p", "missed", words)));
  return [box];
}

function quoteNodes(quote) {
  return [el("span", `check-text quote ${quote.outcome}`, quote.text), el("span", "check-source", quote.called[0])];
}

// Whom the answer credits, in its own words: who says it instead stands in the line above.
function creditNodes(claim) {
  if (!claim.credit) return [];
  const credit = el("p", "credit-line");
  credit.append(el("span", "label", "The answer credits:"), el("span", null, `“${claim.credit.text}”${claim.credit.source ? ` (${claim.credit.source})` : ""}`));
  return [credit];
}

// What a tool was called with: one line, which opens where it has more.
function callLine(source, fact) {
  if (!source.arguments) return [];
  const line = el("details", fact ? "arguments fact" : "arguments");
  const words = el("summary");
  words.append(el("span", "label", source.arguments.length ? "Called with" : "Called with nothing"));
  for (const [name, value] of source.arguments) {
    const pair = el("span", "argument");
    pair.append(el("span", "label", name), el("code", null, value));
    words.append(pair);
  }
  line.append(words);
  return [line];
}

// What the verifier read of that for a claim that rests on it.
function callRead(source, claim) {
  if (!claim || claim.routed !== source.id || !claim.call_read) return [];
  const read = el("div", "call-read", null, { "data-testid": "call-read" });
  const text = el("pre", "verbatim");
  appendMarked(text, { start: 0, text: claim.call_read }, claim.call_marks);
  read.append(el("p", "label", "Read for this claim, of what was asked or written"), text);
  return [read];
}
