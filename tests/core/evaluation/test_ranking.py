"""AUROC, both error rates at fixed ones, and intervals that hold what was measured."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.packets import PacketRow, row_from_json
from core.evaluation.ranking import ranking_report, ranking_table
from core.evaluation.ranking_scores import (
    auroc,
    auroc_interval,
    bad_found_in_first,
    bad_passed_at,
    good_blocked_at,
    reading_entry,
    reading_words,
)
from core.evaluation.sweep import sweep_bands

CLAIMS = st.lists(
    st.tuples(st.integers(0, 20), st.booleans(), st.integers(0, 4)), min_size=2, max_size=60
)


def _arrays(claims: list[tuple[int, bool, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    score = np.array([one[0] / 20 for one in claims])
    bad = np.array([one[1] for one in claims])
    trace = np.unique([one[2] for one in claims], return_inverse=True)[1]
    return score, bad, trace


@given(CLAIMS)
def test_auroc_counts_pairs(claims: list[tuple[int, bool, int]]) -> None:
    score, bad, _ = _arrays(claims)
    pairs = [(g, b) for g in score[~bad] for b in score[bad]]
    expected = (
        sum(1.0 if g > b else 0.5 if g == b else 0.0 for g, b in pairs) / len(pairs)
        if pairs
        else None
    )
    found = auroc(score, bad)
    assert (found is None) == (expected is None)
    assert found is None or expected is None or abs(found - expected) < 1e-9


@given(CLAIMS, st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.5]))
def test_a_threshold_reaches_what_is_told(claims: list[tuple[int, bool, int]], rate: float) -> None:
    """The told rate is that of some threshold which keeps the other rate, and none does better."""
    score, bad, _ = _arrays(claims)
    good, poor = score[~bad], score[bad]
    if not len(good) or not len(poor):
        assert bad_passed_at(score, bad, rate) is None
        return
    thresholds = [*np.unique(score), 2.0]
    both = [((good < t).mean(), (poor >= t).mean()) for t in thresholds]
    assert bad_passed_at(score, bad, rate) == min(b for g, b in both if g <= rate + 1e-12)
    assert good_blocked_at(score, bad, rate) == min(g for g, b in both if b <= rate + 1e-12)


@given(CLAIMS)
def test_the_interval_holds_the_measured_value(claims: list[tuple[int, bool, int]]) -> None:
    score, bad, trace = _arrays(claims)
    measured, ends = auroc(score, bad), auroc_interval(score, bad, [str(t) for t in trace])
    if measured is not None and ends is not None:
        assert ends[0] - 1e-4 <= measured <= ends[1] + 1e-4


@given(CLAIMS, st.lists(st.integers(0, 20), min_size=1, max_size=6))
def test_every_band_holds_its_rate_whatever_the_order(
    claims: list[tuple[int, bool, int]], asked: list[int]
) -> None:
    """Thresholds came unsorted, and intervals were of other thresholds than their rates."""
    score, bad, trace = _arrays(claims)
    thresholds = [one / 20 for one in asked]
    bands = sweep_bands(score, bad, np.zeros(len(bad), dtype=bool), trace, thresholds, resamples=50)
    for threshold, band in zip(thresholds, bands, strict=True):
        for among, rate, name in (
            (score[~bad], (score[~bad] < threshold), "false_block_rate"),
            (score[bad], (score[bad] >= threshold), "false_pass_rate"),
        ):
            ends = band[name]
            if len(among) and ends is not None:
                assert ends[0] - 1e-5 <= rate.mean() <= ends[1] + 1e-5


def _rows(claims: list[tuple[str, str, str]]) -> list[PacketRow]:
    return [
        row_from_json(
            {
                "claim_id": f"c{at}",
                "trace_id": trace,
                "claim": "x",
                "sources": [{"source_id": "s", "tool_name": "t", "text": "x"}],
                "label": label,
                "relation": None,
                "gold_source_ids": [],
                "how" if label == "supported" else "kind": kind,
            }
        )
        for at, (trace, label, kind) in enumerate(claims)
    ]


def test_each_kind_is_ranked_against_all_of_the_other_side_for_every_system() -> None:
    rows = _rows(
        [("a", "supported", "verbatim"), ("b", "supported", "inference")] * 10
        + [("c", "contradicted", "number_changed"), ("d", "contradicted", "")] * 10
    )
    good = np.array([0.9, 0.2] * 10)
    scores = {
        "verifier": np.concatenate([good, [0.1, 0.5] * 10]),
        "shared words alone": np.full(40, 0.5),
    }

    report = ranking_report(rows, scores)

    def of(part: str, kind: str, system: str = "verifier") -> object:
        return report[part][kind]["systems"][system]["auroc"]

    assert of("by_how", "verbatim") == 1.0
    assert of("by_how", "inference") == 0.5
    assert of("by_error", "contradicted") == 0.75
    assert of("by_kind", "number_changed") == 1.0
    assert of("by_kind", "contradicted") == 0.5  # no finer kind is named
    assert of("by_how", "verbatim", "shared words alone") == 0.5
    assert report["by_how"]["inference"]["claims"] == 10
    lines = ranking_table("trial", report)
    assert any(line.startswith("| number_changed | 10 | 0 % | 1.000 (1.00–1.00)") for line in lines)


def test_without_errors_named_more_closely_there_is_one_table_of_them() -> None:
    rows = _rows([("a", "supported", "verbatim"), ("b", "contradicted", "")])

    report = ranking_report(rows, {"verifier": np.array([0.9, 0.1])})

    assert "by_kind" not in report and "by_error" in report


@given(CLAIMS)
def test_errors_found_by_reading_never_fall_and_reach_what_is_wanted(
    claims: list[tuple[int, bool, int]],
) -> None:
    score, bad = np.array([one[0] for one in claims], float), np.array([one[1] for one in claims])
    found = reading_entry(score, bad)
    if found is None:
        assert not bad.any()
        return
    curve, to_find = found["curve"], found["to_find"]
    assert isinstance(curve, list) and isinstance(to_find, dict)
    shares = [point["found"] for point in curve]
    assert shares == sorted(shares) and (shares[0], shares[-1]) == (0.0, 1.0)
    for point in curve[1:]:
        assert point["found"] == pytest.approx(
            bad_found_in_first(score, bad, point["read"]), abs=1e-4
        )
    for share, count in to_find.items():
        assert bad_found_in_first(score, bad, count / len(bad)) >= float(share) - 1e-9
        if count > 1:
            assert bad_found_in_first(score, bad, (count - 1) / len(bad)) < float(share) + 1e-9


def test_what_reading_finds_follows_the_order_given_and_moves_nothing_else() -> None:
    rows = _rows([("a", "contradicted" if at in (1, 3) else "supported", "") for at in range(6)])
    score = np.array([0.1, 0.9, 0.2, 0.8, 0.3, 0.4])
    plain = ranking_report(rows, {"verifier": score, "other": score})["systems"]
    order = np.array([0.5, 0.0, 0.6, 0.1, 0.7, 0.8])
    read = ranking_report(rows, {"verifier": score, "other": score}, order=order)["systems"]

    assert read["other"] == plain["other"]
    bad = np.array([row.should_block for row in rows])
    assert read["verifier"]["reading"] == reading_entry(order, bad)
    assert read["verifier"]["reading"]["to_find"]["0.5"] == 1
    changed = {key for key in read["verifier"] if read["verifier"][key] != plain["verifier"][key]}
    assert changed == {"reading", "bad_found_in_first_0.2"}


def test_reading_is_said_in_words() -> None:
    score, bad = np.arange(10.0), np.array([True, True, *[False] * 8])

    assert reading_words(reading_entry(score, bad)) == (
        "read the first 1 of 10 claims (10 %) to find 50 % of the 2 errors, "
        "2 (20 %) for 80 %, 2 (20 %) for 95 %"
    )
    assert "nothing to find" in reading_words(reading_entry(score, ~bad & bad))
