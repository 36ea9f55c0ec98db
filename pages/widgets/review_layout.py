"""One claim to be read by a person, laid out for the review view: nothing of the verifier's view.

What is sent before the decision comes from the trace alone, in the trace's own order: no score, no
family, no id of the trace (ids and categories may tell how a trace was made), no excerpt chosen by a
premise. ``lay_out_machine`` adds the verifier's view afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.evidence.values import protected_values, value_spans
from core.records import ClaimVerdict, Source, Span, Trace, VerdictLabel, Verification
from core.review.assignment import stands
from core.review.items import Guideline, Progress, ReviewItem
from core.review.records import Cause, Judgement, Passage, QueueReason, Support, Unfit
from pages.widgets.answer_layout import answer_parts, lay_out_blocks
from pages.widgets.counting import counted
from pages.widgets.headline import is_shown_supported
from pages.widgets.identities import arguments_of, identity_of
from pages.widgets.offsets import Offsets
from pages.widgets.palette import STATUS_WORDS, Kind, claim_kind
from pages.widgets.shortcuts import SHIPPED, Keymap, Page
from pages.widgets.verdict_view import lay_out

Json = Mapping[str, object]

# Texts beyond this are fetched when their source is opened or searched.
TEXTS_SENT_CHARACTERS = 400_000

# On the buttons of one line and on the tabs: more sources than this are called by their number.
NAMED_SOURCES = 3
BUTTON_CHARACTERS = 32

SUPPORT_WORDS: Mapping[Support, str] = {
    VerdictLabel.SUPPORTED: "Supported",
    VerdictLabel.UNSUPPORTED: "Unsupported",
    VerdictLabel.CONTRADICTED: "Contradicted",
    VerdictLabel.NOT_ENOUGH_EVIDENCE: "Not enough evidence",
    Unfit.NOT_A_CLAIM: "Not a claim, or cut wrongly",
}
CONFIDENCE = {1: "a guess", 2: "doubtful", 3: "fairly sure", 4: "sure", 5: "certain"}
CAUSES = {
    Cause.AMBIGUOUS_CLAIM: "Claim ambiguous",
    Cause.GUIDELINE_GAP: "Guideline silent",
    Cause.REVIEWER_ERROR: "Reviewer error",
    Cause.DECOMPOSITION_ERROR: "Claim cut wrongly",
    Cause.AMBIGUOUS_SOURCE: "Source ambiguous",
}
REASON_WORDS: Mapping[QueueReason, str] = {
    QueueReason.UNCERTAIN: "the least supported claims come first, and it was the next",
    QueueReason.PERSON: "the verifier is sure of neither: it needs a person",
    QueueReason.CONFLATION: "the credited source may not be the one that says it",
    QueueReason.AUDIT: "it was drawn at random, to measure how good the verifier is",
    QueueReason.SECOND_READ: "two independent annotations are wanted",
    QueueReason.DISAGREEMENT: "two annotations differ",
}


class ClaimInAnswer(Protocol):
    """A claim as it was queued, at its place in the answer: annotations on it are on these words."""

    @property
    def text(self) -> str: ...
    @property
    def span(self) -> Span: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceButton:
    """A source as a button names it, in the words of its tool: text, and never markup."""

    source_id: str
    words: str
    key: str | None


def lay_out_blind(
    trace: Trace,
    claim: ClaimInAnswer,
    *,
    page: Page,
    opened: Collection[str],
    turns: Sequence[tuple[str, str]] = (),
    keys: Keymap = SHIPPED,
) -> dict[str, object]:
    """The review view's data for one claim; ``opened`` names sources whose text must be in it.

    ``turns`` are what was asked and said before, in a conversation.
    """
    return {
        "question": trace.question,
        "turns": turns,
        "claim": claim.text,
        "pieces": _pieces(trace.answer or "", claim.span),
        "blocks": lay_out_blocks(trace.answer or ""),
        "sources": [
            _source(source, name, short, keys.of_source(at))
            for at, (source, name, short) in enumerate(
                zip(trace.sources, trace.names.values(), short_names(trace), strict=True)
            )
        ],
        "texts": _texts(trace.sources, opened),
        "keys": dict(keys.of_views(page)),
        "opens": list(keys.opening()),
        "buttons": list(keys.of_buttons(page)),
        "help": keys.help_sheet(page, sources=len(trace.sources)),
        "machine": None,
        "readings": None,
        "mine": None,
        "owners": (),
        "named": {},
        "passages": [],
        "values": None,
        "answerable": True,
        "progress": None,
    }


def lay_out_machine(
    verification: Verification,
    trace: Trace,
    claim_id: str,
    *,
    said: Judgement | None,
    reason: QueueReason | None,
    verified_at: datetime,
) -> Json | None:
    """What the verifier said about the claim, for after the decision; None when it said nothing."""
    laid = lay_out(verification, trace, verified_at=verified_at)
    claims = laid["claims"]
    assert isinstance(claims, Sequence)
    claim = next((each for each in claims if each["id"] == claim_id), None)
    if claim is None:
        return None
    verdict = next(each for each in verification.claims if each.claim.claim_id == claim_id)
    return {
        "claim": claim,
        "here": f"Why you saw this claim: {REASON_WORDS[reason]}." if reason else "",
        "agrees": "" if said is None else _agreement(said, verdict, claim["routed"]),
    }


def progress_data(item: ReviewItem, progress: Progress) -> Json:
    """How far the reviewer is, in words ("12 of 40 · about 9 minutes") and as a share."""
    words = f"{item.position:,} of {item.total:,}"
    if progress.seconds_per_claim:
        left = (item.total - item.position + 1) * progress.seconds_per_claim
        words += f" · about {duration_words(left)}"
    return {"words": words, "share": (item.position - 1) / max(1, item.total)}


def guideline_data(guideline: Guideline) -> Json:
    """The guideline as the view shows it."""
    return {"version": guideline.version, "text": guideline.text}


def duration_words(seconds: float) -> str:
    """Seconds in words that a person plans with: "9 minutes", "3 hours"."""
    minutes = max(1, round(seconds / 60))
    if minutes < 90:
        return counted(minutes, "minute")
    hours = round(minutes / 60)
    return f"{hours:,} hours"


def source_buttons(trace: Trace, keys: Keymap = SHIPPED) -> tuple[SourceButton, ...]:
    """The sources that have a key of their own, in trace order, in words that fit one line."""
    return tuple(
        SourceButton(source_id=source.source_id, words=words, key=key)
        for at, (source, words) in enumerate(zip(trace.sources, short_names(trace), strict=True))
        if (key := keys.of_source(at)) is not None
    )


def short_names(trace: Trace) -> list[str]:
    """What each source is called on its tab and on its answer key alike."""
    if len(trace.sources) > NAMED_SOURCES:
        return [f"Source {number}" for number in range(1, len(trace.sources) + 1)]
    return [*map(_button_words, trace.sources, trace.names.values())]


def answer_words(judgement: Judgement, names: Mapping[str, str]) -> str:
    """A judgement in words, sources by what they are called: "Supported · get_labs · credited rightly"."""
    if judgement.label is None:
        corrected = f" · should say: {judgement.correction}" if judgement.correction else ""
        return SUPPORT_WORDS[judgement.support] + corrected
    owners = " and ".join(owner_words(each, names) for each in judgement.source_ids or (None,))
    words = [SUPPORT_WORDS[judgement.support], owners]
    if judgement.conflation:
        words.append("credited to another source")
    elif judgement.conflation is False and judgement.source_ids:
        words.append("credited rightly")
    return " · ".join(words)


def owner_words(source_id: str | None, names: Mapping[str, str]) -> str:
    """What a source is called; "no source" for None."""
    return "no source" if source_id is None else names.get(source_id, source_id)


def marked(passages: Sequence[Passage], trace: Trace, kind: str, by: str) -> list[Json]:
    """Passages as the view marks them in the sources' texts, in a browser's offsets, with their words.

    What does not stand there so is not marked.
    """
    texts = {source.source_id: source.text for source in trace.sources}
    laid: list[Json] = []
    for each in passages:
        if not stands(each, texts):
            continue
        text = texts[each.source_id]
        offsets = Offsets(text)
        start, end = offsets.of_point(each.start), offsets.of_point(each.end)
        laid.append(
            {
                "source": each.source_id,
                "start": start,
                "end": end,
                "kind": kind,
                "by": by,
                "text": text[each.start : each.end],
            }
        )
    return laid


def value_places(trace: Trace, claim: ClaimInAnswer) -> Json:
    """Where the claim's values stand in each source's text, in a browser's offsets."""
    values = protected_values(claim.text)
    places = {}
    for source in trace.sources:
        offsets = Offsets(source.text)
        spans = {span for value in values for span in value_spans(value, source.text)}
        places[source.source_id] = [
            [offsets.of_point(span.start), offsets.of_point(span.end)]
            for span in sorted(spans, key=lambda span: (span.start, span.end))
        ]
    return {"said": ", ".join(value.text for value in values), "places": places}


# ---------------------------------------------------------------- parts


def _button_words(source: Source, name: str) -> str:
    words = source.tool_name
    if len(words) > BUTTON_CHARACTERS:
        words = words[: BUTTON_CHARACTERS - 1].rstrip() + "…"
    return words + name.removeprefix(source.tool_name)


def _pieces(answer: str, span: Span) -> list[Json]:
    start, end = max(0, span.start), min(len(answer), span.end)
    return [
        {
            "text": part.span.cut(answer),
            "block": part.block,
            "cell": part.cell,
            "look": part.look,
            "lit": start <= part.span.start < end,
        }
        for part in answer_parts(answer, (start, end))
    ]


def _source(source: Source, name: str, short_name: str, key: str | None) -> Json:
    short, words = STATUS_WORDS[source.status.value]
    return {
        "id": source.source_id,
        "tool": source.tool_name,
        "name": short_name,
        "plain": name,
        "key": key,
        "identity": identity_of(source),
        "status_short": short,
        "status_words": words,
        "characters": len(source.text),
        "server": source.server,
        "arguments": arguments_of(source),
        "uri": source.uri,
        "note": source.note,
    }


def _texts(sources: Sequence[Source], opened: Collection[str]) -> dict[str, Json]:
    """Whole texts in trace order within the budget, and every one that was opened."""
    sent: dict[str, Json] = {}
    spent = 0
    for source in sources:
        size = len(source.text) + len(source.raw or "")
        if source.source_id in opened or "*" in opened or spent + size <= TEXTS_SENT_CHARACTERS:
            sent[source.source_id] = {"text": source.text, "raw": source.raw}
            spent += size
    return sent


def _agreement(said: Judgement, verdict: ClaimVerdict, routed: object) -> str:
    """What the verifier answers to the three questions as the annotator did, otherwise, and not at all."""
    if said.label is None:
        return "It took this for a claim."
    kind, label = claim_kind(verdict), verdict.verdict
    support = {Kind.SUPPORTED: VerdictLabel.SUPPORTED, Kind.CONTRADICTED: label}.get(kind)
    if kind is Kind.CONFLATION and (
        is_shown_supported(verdict) or label is VerdictLabel.CONTRADICTED
    ):
        support = label
    credit = {Kind.SUPPORTED: False, Kind.CONFLATION: True}.get(kind)
    # Of what a source contradicts, "no source says it" is as right as naming the one that says otherwise.
    named = said.source_id is not None or support is VerdictLabel.SUPPORTED
    same = {
        "support": said.support is support if support else None,
        "source": routed in said.source_ids if support and named else None,
        "credit": said.conflation is credit if None not in (said.conflation, credit) else None,
    }
    alike, other, silent = (
        " and ".join(", ".join(name for name in same if same[name] is each).rsplit(", ", 1))
        for each in (True, False, None)
    )
    if not alike and not other:
        return "It leaves this claim to a person."
    told = f"agrees with you on {alike}" if alike else ""
    told += f"{', and ' if alike else ''}sees {other} differently" if other else ""
    return f"It {told}." + (f" It says nothing on {silent}." if silent else "")
