"""The sources of a verdict laid out for the evidence view, and the texts that go with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from core.records import Judged, Route, Source, Verification, call_names
from pages.widgets.excerpts import SHOWN_WHOLE_CHARACTERS
from pages.widgets.identities import arguments_of
from pages.widgets.offsets import Offsets
from pages.widgets.palette import STATUS_WORDS, family_words
from storage.store import SqlStore

Json = Mapping[str, object]

# The browser keeps this much source text at hand; more is fetched when its source is opened.
TEXTS_SENT_CHARACTERS = 1_500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SentText:
    """A source's text on its way to the browser, and how that counts in it."""

    text: str
    offsets: Offsets


def source_names(sources: Sequence[Source]) -> dict[str, str]:
    """What a source is called on the page: its tool, numbered where a tool was called twice."""
    return call_names({source.source_id: source.tool_name for source in sources})


@st.cache_data(show_spinner=False, max_entries=10_000)
def names_in_trace(_store: SqlStore, trace_id: str, content_hash: str) -> dict[str, str]:
    """What the sources of a stored trace are called; raises NotFound."""
    return _store.get_trace(trace_id, content_hash).trace.names


def lay_out_source(source: Source, family: str, kept: Source | None, name: str) -> Json:
    """One source as the view lists it; ``kept`` is it as it was captured."""
    short, words = STATUS_WORDS[source.status.value]
    return {
        "id": source.source_id,
        "name": name,
        "call": name.removeprefix(source.tool_name),
        "tool": source.tool_name,
        "family": family_words(family),
        "status_short": short,
        "status_words": words,
        "characters": len(source.text),
        "server": kept.server if kept else None,
        "arguments": arguments_of(kept),
        "uri": kept.uri if kept else None,
        "note": kept.note if kept else None,
    }


def sources_sent(verification: Verification, opened: Sequence[str]) -> dict[str, SentText]:
    """Texts by source id, in the order in which a reader is likely to want them, within budget."""
    texts = {source.source_id: source.text for source in verification.trace.sources}
    sent: dict[str, SentText] = {}
    spent = 0
    for source_id in _wanted(verification, opened):
        if source_id in sent or source_id not in texts:
            continue
        spent += min(len(texts[source_id]), SHOWN_WHOLE_CHARACTERS)
        if spent > TEXTS_SENT_CHARACTERS and sent and source_id not in opened:
            break
        sent[source_id] = SentText(text=texts[source_id], offsets=Offsets(texts[source_id]))
    return sent


def _routes(verification: Verification) -> list[Route]:
    outcomes = [verdict.outcome for verdict in verification.claims]
    return [outcome.route for outcome in outcomes if isinstance(outcome, Judged)]


def _wanted(verification: Verification, opened: Sequence[str]) -> Iterator[str]:
    yield from opened
    routes = _routes(verification)
    yield from (route.source_id for route in routes)
    for place in range(max((len(route.ranking) for route in routes), default=0)):
        for route in routes:
            if place < len(route.ranking):
                yield route.ranking[place].source_id
    yield from (source.source_id for source in verification.trace.sources)
