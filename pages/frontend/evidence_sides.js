// The evidence view: two sources side by side, for a wrongly credited claim by itself and for any
// other on demand. Every string in `data` may come from an untrusted tool: it is text alone.

// What the page opens with: two panes where credit and support part.
function sidesOf(state, claim, asked) {
  if (!claim || !claim.sides || asked === "none") return null;
  const known = state.data.sources.some((source) => source.id === asked);
  if (known) return { left: asked, right: claim.sides.right, raw: {} };
  return claim.sides.automatic ? { left: claim.sides.left, right: claim.sides.right, raw: {} } : null;
}

function toggleSides(state) {
  const claim = state.data.claims.find((each) => each.id === state.claim) || null;
  if (state.sides) state.sides = null;
  else if (claim && claim.sides) state.sides = { left: claim.sides.left === state.source ? claim.sides.right : claim.sides.left, right: state.source || claim.sides.right, raw: {} };
  else if (state.data.sources.length > 1) {
    const other = state.data.sources.find((source) => source.id !== state.source);
    state.sides = { left: other.id, right: state.source, raw: {} };
  }
  state.parts.panes.classList.toggle("beside", Boolean(state.sides));
  drawSources(state, claim);
  bringIntoView(state.parts.answerText, state.parts.answerText.querySelector(".said.chosen"), 0.35);
  remember(state);
  state.parts.sidesButton?.focus();
}

function drawSides(state, claim) {
  const row = el("div", "sides");
  const boxes = [];
  for (const side of ["left", "right"]) {
    const source = state.data.sources.find((each) => each.id === state.sides[side]);
    if (!source) continue;
    const role = sideRole(claim, source.id, side);
    const pick = sourcePicker(pickerOptions(state, claim), source.id, `${role}: choose a source`, (id) => {
      state.sides[side] = id;
      if (side === "right") state.source = id;
      drawSources(state, claim);
      remember(state);
    });
    const held = state.data.texts[source.id];
    const raw = Boolean(state.sides.raw[side] && held && held.raw);
    const nodes = [pick];
    if (held && held.raw) {
      nodes.push(button(`text${raw ? " chosen" : ""}`, "Raw", () => {
        state.sides.raw[side] = !raw;
        drawSources(state, claim);
      }, { "aria-pressed": String(raw), title: "The output exactly as the tool gave it" }));
    }
    const made = sidePane(side, role, nodes);
    row.append(made.pane);
    boxes.push([made.box, source, raw, side]);
  }
  state.parts.sources.append(row);
  for (const [box, source, raw, side] of boxes) {
    const place = !raw && claim && claim.sides && claim.sides[side] === source.id ? claim.sides[`${side}_place`] : null;
    const shown = fillOutput(state, claim, source, box, { raw, extra: place ? [place] : [] });
    if (shown && !openAtPlace(box) && claim) {
      box.prepend(el("p", "muted small", "Nothing here comes near the claim: the output from its beginning."));
    }
  }
}

function sideRole(claim, sourceId, side) {
  if (!claim) return side === "left" ? "One source" : "Another source";
  const places = claim.sides && (claim.sides.left_place || claim.sides.right_place);
  if (places && claim.sides[side] === sourceId) return side === "left" ? "The answer cites" : "Says it";
  if (claim.routed === sourceId) return claim.instead || "Checked against";
  return claim.stated.includes(sourceId) ? "The answer credits" : "Beside it";
}

function pickerOptions(state, claim) {
  return ranked(state.data, claim).map(({ source }) => {
    const about = source.status_short || source.family;
    return { id: source.id, words: `${source.name}${about ? `, ${about}` : ""}` };
  });
}
