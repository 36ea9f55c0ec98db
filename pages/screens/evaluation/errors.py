"""The claims that the verifier got wrong, and one claim of a packet with its sources and the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from core.evaluation.findings import ClaimError, Mistake, list_errors
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Cause, Prediction
from pages.screens.evaluation.confusion import LABEL_WORDS
from pages.widgets.evaluated import Opened, has_verdict
from pages.widgets.excerpts import SHOWN_WHOLE_CHARACTERS
from pages.widgets.figures import Cell, by_column, choose_row, csv_text, offer
from pages.widgets.navigation import link_verdict
from pages.widgets.plain import show_cards, show_notice
from pages.widgets.source_view import source_names
from storage.store import SqlStore

EVERY = "Every mistake"
HEADER = (
    "What went wrong", "Claim", "Label", "Verdict", "Stopped by", "Support", "Checked against",
    "Trace", "Claim id",
)  # fmt: skip
CLAIM_CHARACTERS = 300


def show_errors(opened: Opened) -> str | None:
    """The table of errors, filtered by kind; the claim id of the one that is chosen in it."""
    errors = list_errors(opened.rows, opened.predictions)
    if not errors:
        show_notice("Nothing to show", "Every labelled claim was judged as its label says.")
        return None
    counts = Counter(mistake for error in errors for mistake in error.mistakes)
    kinds = [EVERY, *(mistake.value for mistake in Mistake if counts[mistake])]
    words = {kind: f"{kind} ({counts[Mistake(kind)]:,})" for kind in kinds[1:]}
    words[EVERY] = f"{EVERY} ({len(errors):,})"
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    kind = left.selectbox("Show", kinds, format_func=words.__getitem__, key="mistake")
    wanted = right.text_input("Words in the claim or its ids", key="error-search", type="search")
    shown = [
        error
        for error in errors
        if (kind == EVERY or Mistake(kind) in error.mistakes)
        and _matches(opened.rows[error.place], wanted or "")
    ]
    if not shown:
        show_notice("No error matches", "Widen the search.")
        return None
    rows = [_cells(error, opened) for error in shown]
    st.caption("Choose a row to see the claim, its sources and the reason below.")
    chosen = choose_row(
        by_column(HEADER, rows),
        height=min(420, 40 + 36 * len(rows)),
        alt="Claims that were judged wrongly",
        # Another filter is another table: a selection must not pass to another claim.
        key=f"errors-{kind}-{wanted}",
    )
    label = "Download these errors (CSV)"
    offer(label, csv_text(HEADER, rows), "errors.csv", type="tertiary", key="download-errors")
    return None if chosen is None else opened.rows[shown[chosen].place].claim_id


def show_claim(store: SqlStore, opened: Opened, claim_id: str) -> None:
    """One claim: what its label says, what the verifier said and why, and every source it had."""
    place = next((at for at, row in enumerate(opened.rows) if row.claim_id == claim_id), None)
    if place is None:
        show_notice(
            "That claim is not in this packet",
            "The address names a claim of another packet.",
            tone="careful",
        )
        return
    row, found = opened.rows[place], opened.predictions[place]
    show_cards([_card(row, found)], key="claim-card")
    if row.sources:
        _show_source(row, found)
    if has_verdict(store, row.trace_id):
        link_verdict("Open the whole answer", row.trace_id)


def blocked_by(found: Prediction) -> str:
    """What keeps a claim back, in words; that it passes where nothing does."""
    return "nothing: it passes" if found.cause is Cause.NONE else found.cause.value


def _card(row: PacketRow, found: Prediction) -> dict[str, object]:
    wrong = found.blocked != row.should_block
    names = source_names(row.sources)
    facts = [
        ["Label", _label(row.label.value if row.label else None)],
        ["Verdict", f"{_label(found.verdict.value)}, {'stopped' if found.blocked else 'passed'}"],
        ["Stopped by", blocked_by(found)],
        ["Why", found.reason],
        ["Credited to", row.stated_attribution or "nobody"],
        ["Checked against", _source_words(found.routed_source_id, names)],
        ["Right source", " or ".join(_source_words(each, names) for each in row.gold_source_ids)
         or "none is named"],
    ]  # fmt: skip
    if found.probabilities is not None:
        seen = found.probabilities
        facts.append(
            ["The model reads it as", f"saying so {seen.entailment:.2f}, silent {seen.neutral:.2f}, "
             f"saying otherwise {seen.contradiction:.2f}"]
        )  # fmt: skip
    if found.probability is not None:
        facts.append(["Support", f"{found.probability:.2f} against {found.threshold:g}"])
    facts.append(["Claim id", row.claim_id])
    return {
        "title": row.claim,
        "mark": "✕" if wrong else "✓",
        "facts": facts,
        "tone": "bad" if wrong else "careful",
    }


def _show_source(row: PacketRow, found: Prediction) -> None:
    ids = [source.source_id for source in row.sources]
    routed = found.routed_source_id
    chosen = st.selectbox(
        "Source",
        ids,
        index=ids.index(routed) if routed in ids else 0,
        format_func={
            source_id: _tagged(source_id, name, row, found)
            for source_id, name in source_names(row.sources).items()
        }.__getitem__,
        key=f"source-of-{row.claim_id}",
    )
    text = next(source.text for source in row.sources if source.source_id == chosen)
    st.code(
        text[:SHOWN_WHOLE_CHARACTERS],
        language=None,
        wrap_lines=True,
        height=360 if len(text) > 1_500 else "content",
    )
    if len(text) > SHOWN_WHOLE_CHARACTERS:
        st.caption(f"The first {SHOWN_WHOLE_CHARACTERS:,} of {len(text):,} characters.")


def _tagged(source_id: str, name: str, row: PacketRow, found: Prediction) -> str:
    tags = ["checked against"] if source_id == found.routed_source_id else []
    tags += ["right"] if source_id in row.gold_source_ids else []
    return name + (f" · {', '.join(tags)}" if tags else "")


def _source_words(source_id: str | None, names: dict[str, str]) -> str:
    if source_id is None:
        return "no source"
    return names.get(source_id, source_id)


def _cells(error: ClaimError, opened: Opened) -> Sequence[Cell]:
    row, found = opened.rows[error.place], opened.predictions[error.place]
    claim = row.claim if len(row.claim) <= CLAIM_CHARACTERS else row.claim[:CLAIM_CHARACTERS] + "…"
    return (
        error.mistakes[0].value,
        claim,
        _label(row.label.value if row.label else None),
        _label(found.verdict.value),
        blocked_by(found),
        found.probability,
        found.routed_tool or "no source",
        row.trace_id,
        row.claim_id,
    )


def _label(name: str | None) -> str:
    return "none" if name is None else LABEL_WORDS[name]


def _matches(row: PacketRow, wanted: str) -> bool:
    needle = wanted.casefold()
    return any(needle in text.casefold() for text in (row.claim, row.claim_id, row.trace_id))
