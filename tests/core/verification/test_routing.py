"""III.3: ranking and routing."""

from __future__ import annotations

import numpy as np
import pytest
from builders import probabilities
from hypothesis import given
from hypothesis import strategies as st

from core.config import Config
from core.errors import RouteError
from core.verification.candidates import Candidate, rank_sources, route_claim, similarities

share = st.floats(0, 1).map(lambda x: round(x, 4))


@st.composite
def candidates(draw: st.DrawFn) -> list[Candidate]:
    rows = draw(
        st.lists(st.tuples(share, share, share, share, st.booleans()), min_size=1, max_size=8)
    )
    return [
        Candidate(source_id=f"s{i}", centroid=c, nearest=n, overlap=o, values=v, identity=d)
        for i, (c, n, o, v, d) in enumerate(rows)
    ]


def _route(found: list[Candidate], config: Config = Config(), **nli_scores: object):  # type: ignore[no-untyped-def]  # noqa: B008
    names = {c.source_id: c.source_id for c in found}
    return route_claim(found, nli_scores, names, names, config)  # type: ignore[arg-type]


@given(candidates(), st.randoms())
def test_permuting_the_sources_permutes_the_ranking_only(found: list[Candidate], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(found)
    random.shuffle(shuffled)

    before = {r.source_id: r.score for r in rank_sources(found, Config())}
    after = {r.source_id: r.score for r in rank_sources(shuffled, Config())}

    assert before == after


@given(candidates(), st.sampled_from(["evidence", "centroid"]))
def test_a_ranking_is_sorted_and_holds_every_source_once(
    found: list[Candidate], router: str
) -> None:
    ranking = rank_sources(found, Config(router=router))

    assert sorted(r.source_id for r in ranking) == sorted(c.source_id for c in found)
    assert [r.score for r in ranking] == sorted((r.score for r in ranking), reverse=True)


@given(candidates())
def test_a_margin_is_the_lead_over_the_second_and_a_lone_sources_margin_is_its_score(
    found: list[Candidate],
) -> None:
    route = _route(found)

    if len(found) == 1:
        assert route.margin == route.score
    else:
        assert route.margin == round(route.score - route.ranking[1].score, 4) >= 0


def test_ties_go_to_the_earlier_source_so_that_runs_repeat() -> None:
    twins = [
        Candidate(source_id=name, centroid=0.5, nearest=0.5, overlap=0.5, values=1.0, identity=True)
        for name in ("b", "a")
    ]

    assert _route(twins).source_id == "b"


def test_a_source_that_lacks_the_patients_name_loses_to_one_that_has_it() -> None:
    wrong_chart = Candidate(
        source_id="wrong", centroid=0.6, nearest=0.7, overlap=0.6, values=0.5, identity=False
    )
    right_chart = Candidate(
        source_id="right", centroid=0.5, nearest=0.6, overlap=0.6, values=1.0, identity=True
    )

    assert _route([wrong_chart, right_chart]).source_id == "right"


def test_the_centroid_router_is_the_papers_cosine_and_needs_no_readings() -> None:
    by_topic = Candidate(
        source_id="topic", centroid=0.9, nearest=0.1, overlap=0.0, values=0.0, identity=False
    )
    by_words = Candidate(
        source_id="words", centroid=0.1, nearest=0.9, overlap=1.0, values=1.0, identity=True
    )

    route = _route([by_words, by_topic], Config(router="centroid"))

    assert (route.source_id, route.score, route.margin) == ("topic", 0.9, 0.8)


def test_what_the_reader_said_of_a_source_counts() -> None:
    twins = [
        Candidate(source_id=name, centroid=0.5, nearest=0.5, overlap=0.5, values=1.0, identity=True)
        for name in ("first", "second")
    ]

    route = _route(
        twins, first=probabilities(0.05, 0.9, 0.05), second=probabilities(0.9, 0.05, 0.05)
    )

    assert route.source_id == "second"


def test_no_candidates_is_an_error_not_a_guess() -> None:
    with pytest.raises(RouteError, match="no tool output"):
        _route([])


@given(st.integers(1, 6), st.integers(2, 16), st.integers(0, 10_000))
def test_similarities_agree_with_a_plain_computation(rows: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(rows, size))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    claim = rng.normal(size=size)
    claim /= np.linalg.norm(claim)

    centroid, nearest = similarities(claim, vectors)

    mean = [sum(column) / rows for column in vectors.T.tolist()]
    length = sum(x * x for x in mean) ** 0.5
    plain = sum(a * b for a, b in zip(claim.tolist(), mean, strict=True)) / length
    best = max(
        sum(a * b for a, b in zip(claim.tolist(), row, strict=True)) for row in vectors.tolist()
    )
    assert centroid == pytest.approx(plain, abs=1e-4)
    assert nearest == pytest.approx(best, abs=1e-4)
