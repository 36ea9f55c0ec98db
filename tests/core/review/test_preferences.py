"""Preference pairs: what people decided before what the verifier said, with everybody's reasons."""

from __future__ import annotations

from dataclasses import replace

from reviewed import UNSUPPORTED, a_judgement, a_reviewed_claim, a_signal, an_annotation

from core.records import Trace
from core.review.preferences import verdict_pairs
from core.review.records import Passage


def test_all_who_agree_give_their_reasons_whatever_each_named_or_marked_besides() -> None:
    marked = Passage(source_id="chart", start=0, end=1, sha256="sha256:0")
    claim = a_reviewed_claim(
        1,
        an_annotation("Ada", replace(a_judgement(), passages=(marked,)), 1, rationale="Says so."),
        an_annotation(
            "Ben", replace(a_judgement(), more_source_ids=("lab",)), 2, rationale="Both."
        ),
        signal=a_signal(UNSUPPORTED),
    )

    (pair,) = verdict_pairs([claim], Trace(trace_id="t1", question="", answer="", sources=()), None)

    assert pair["reasons"] == ["Says so.", "Both."]
