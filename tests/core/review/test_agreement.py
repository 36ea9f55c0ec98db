"""Agreement against scikit-learn, the plain definitions, and a slow bootstrap of its own."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reviewed import (
    a_judgement,
    a_person,
    a_reviewed_claim,
    a_signal,
    an_adjudication,
    an_annotation,
    two_readings,
)
from sklearn.metrics import cohen_kappa_score

from core.bootstrap import interval, resampled_counts
from core.records import AttributionStatus, VerdictLabel
from core.review.adjudication import resolve
from core.review.agreement import (
    agreement_with_groups,
    agreement_with_machine,
    reveal_effect,
)
from core.review.agreement_records import AgreementFigures, Basis, Grouping, Question
from core.review.agreement_resamples import FEWEST_TRACES
from core.review.readers import readable_by
from core.review.records import (
    SUPPORT_LABELS,
    Judgement,
    ReviewedClaim,
    ReviewStatus,
    Role,
    Unfit,
)
from core.statistics import cohen_kappa, fleiss_kappa, gwet_ac1

LABELS = [label.value for label in SUPPORT_LABELS]
RATING = st.tuples(
    st.sampled_from(LABELS),
    st.sampled_from(LABELS),
    st.integers(0, 11),
    st.sampled_from(["chart", "pubmed", None]),
    st.sampled_from(["chart", "pubmed", None]),
)
RATINGS = st.lists(RATING, min_size=1, max_size=40)
MORE_RATINGS = st.lists(RATING, min_size=FEWEST_TRACES, max_size=40)


def agreement(
    claims: Sequence[ReviewedClaim], question: Question, **more: object
) -> AgreementFigures:
    return agreement_with_groups(claims, question, Grouping.PAIR, **more)[0]  # type: ignore[arg-type]


def claims_of(rows: list[tuple[str, str, int, str | None, str | None]]) -> list[ReviewedClaim]:
    return [
        two_readings(key, a_judgement(one, left), a_judgement(two, right), trace_id=f"t{trace}")
        for key, (one, two, trace, left, right) in enumerate(rows, 1)
    ]


@given(RATINGS)
def test_kappa_is_scikit_learns_and_raw_agreement_is_a_count(rows) -> None:
    figures = agreement(claims_of(rows), Question.SUPPORT, resamples=20)

    one, two = [row[0] for row in rows], [row[1] for row in rows]
    assert figures.claims == len(rows)
    assert figures.raw.value == pytest.approx(
        sum(a == b for a, b in zip(one, two, strict=True)) / len(rows)
    )
    assert len(figures.agreeing) + len(figures.differing) == len(rows)
    if len({*one, *two}) > 1:
        assert figures.cohen.value == pytest.approx(cohen_kappa_score(one, two))
    else:
        assert figures.cohen.value is None
        assert "one label" in str(figures.cohen.reason)


@given(MORE_RATINGS | RATINGS, st.sampled_from([Question.SUPPORT, Question.SOURCE]))
def test_every_interval_is_that_of_drawing_whole_traces_and_counting_again(rows, question) -> None:
    claims = claims_of(rows)

    figures = agreement(claims, question, resamples=12, seed=7)

    names = list(dict.fromkeys(claim.trace_id for claim in claims))
    if len(names) < 2:
        assert figures.raw.interval is None
        assert figures.raw.reason == "all claims are of one trace"
        return
    if len(names) < FEWEST_TRACES:
        assert figures.raw.interval is None
        assert "at least 8 are needed" in str(figures.raw.reason)
        return
    pick = (0, 1) if question is Question.SUPPORT else (3, 4)
    of_trace = {name: [] for name in names}
    for row in rows:
        of_trace[f"t{row[2]}"].append((row[pick[0]], row[pick[1]]))
    chosen = LABELS if question is Question.SUPPORT else {x for r in rows for x in (r[3], r[4])}
    slow: dict[str, list[float]] = {"raw": [], "cohen": [], "fleiss": [], "ac1": []}
    (drawn,) = resampled_counts(len(names), resamples=12, seed=7)
    for weights in drawn:
        pairs = [p for name, w in zip(names, weights, strict=True) for p in of_trace[name] * int(w)]
        found = {
            "raw": sum(a == b for a, b in pairs) / len(pairs),
            "cohen": cohen_kappa([a for a, _ in pairs], [b for _, b in pairs]).value,
            "fleiss": fleiss_kappa(pairs).value,
            "ac1": gwet_ac1(pairs, list(chosen)).value,
        }
        for name, value in found.items():
            slow[name].append(np.nan if value is None else value)
    for name, values in slow.items():
        figure = getattr(figures, name)
        expected = interval(np.array(values))
        if figure.value is None:
            continue
        if expected is not None and expected.low == expected.high:
            assert name == "raw" or figure.interval is None
        else:
            assert figure.interval == expected


@pytest.mark.parametrize("traces", [2, 3, 7, 8, 30])
@pytest.mark.parametrize("differing", [0, 1])
def test_few_traces_get_no_interval_and_no_interval_is_without_width(
    traces: int, differing: int
) -> None:
    claims = [
        two_readings(
            n,
            a_judgement("supported"),
            a_judgement("contradicted" if n < differing else "supported"),
            trace_id=f"t{n % traces}",
        )
        for n in range(2 * traces)
    ]

    figures = agreement(claims, Question.SUPPORT)

    few = traces < FEWEST_TRACES
    for figure in (figures.raw, figures.cohen, figures.fleiss, figures.ac1):
        if figure.value is None:
            continue
        if few:
            assert figure.interval is None and "at least 8 are needed" in str(figure.reason)
        elif figure.interval is None:
            assert "gives the same figure" in str(figure.reason)
        else:
            assert figure.interval.low < figure.interval.high
    if not few:
        # All alike: a trace is one trial, so that thirty say more than eight.
        assert figures.raw.interval is not None
        if not differing:
            assert figures.raw.interval.high == 1.0
            assert figures.raw.interval.low == pytest.approx(0.025 ** (1 / traces), abs=1e-5)


@given(RATINGS, st.randoms(use_true_random=False))
def test_neither_the_order_of_claims_nor_of_the_two_readings_matters(
    rows, shuffle: random.Random
) -> None:
    claims = claims_of(rows)
    swapped = [
        replace(
            claim,
            annotations=tuple(
                replace(annotation, slot=3 - annotation.slot)
                for annotation in reversed(claim.annotations)
            ),
        )
        for claim in claims
    ]
    shuffle.shuffle(swapped)

    for question in (Question.SUPPORT, Question.SOURCE):
        one = agreement(claims, question, resamples=5)
        two = agreement(swapped, question, resamples=5)

        assert one.prevalence == two.prevalence
        for name in ("raw", "cohen", "fleiss", "ac1"):
            assert getattr(one, name).value == pytest.approx(getattr(two, name).value)


def test_a_skewed_table_has_high_raw_agreement_low_kappa_and_a_fair_ac1() -> None:
    both, split = (VerdictLabel.SUPPORTED,) * 2, (VerdictLabel.SUPPORTED, VerdictLabel.UNSUPPORTED)
    rows = [both] * 18 + [split, split[::-1]]

    figures = agreement(
        [two_readings(n, a_judgement(a), a_judgement(b)) for n, (a, b) in enumerate(rows, 1)],
        Question.SUPPORT,
    )

    assert figures.raw.value == pytest.approx(0.9)
    assert figures.fleiss.value == pytest.approx(-0.0526, abs=1e-3)
    assert figures.ac1.value == pytest.approx(0.897, abs=1e-3)
    assert [(s.label, s.count) for s in figures.prevalence] == [
        ("supported", 38),
        ("unsupported", 2),
    ]


def test_no_claim_read_twice_says_so_instead_of_a_number() -> None:
    figures = agreement([a_reviewed_claim(1, an_annotation())], Question.SUPPORT)

    assert (figures.claims, figures.raw.value, figures.fleiss.value) == (0, None, None)
    assert figures.raw.reason == "no claim was judged twice"
    assert figures.left_out == {"one annotation only": 1}


def test_kappa_for_two_raters_is_undefined_over_several_pairs_and_defined_for_each() -> None:
    same, other = a_judgement(), a_judgement("contradicted")
    claims = [
        two_readings(1, same, same),
        two_readings(2, same, other),
        two_readings(3, other, same, names=("Cora", "Ada")),
        two_readings(4, same, same, names=("Cora", "Ada")),
    ]

    pooled = agreement(claims, Question.SUPPORT)
    _, by_pair = agreement_with_groups(claims, Question.SUPPORT, Grouping.PAIR)

    assert pooled.cohen.value is None
    assert "several pairs" in str(pooled.cohen.reason)
    assert pooled.fleiss.value is not None
    assert [(g.name, g.figures.claims) for g in by_pair] == [
        ("Ada and Ben", 2),
        ("Ada and Cora", 2),
    ]
    assert all(group.figures.cohen.value is not None for group in by_pair)


def test_groups_hold_each_claim_once_a_slice_and_a_claim_without_any_is_kept() -> None:
    same = a_judgement()
    claims = [
        two_readings(1, same, same, slices=("a", "b")),
        two_readings(2, same, same, slices=("b",)),
        two_readings(3, same, same),
        a_reviewed_claim(4, an_annotation(), slices=("a",)),
    ]

    _, groups = agreement_with_groups(claims, Question.SUPPORT, Grouping.SLICE)

    assert {group.name: group.figures.claims for group in groups} == {"a": 1, "b": 2, None: 1}


def test_sources_are_compared_by_id_and_no_source_is_an_answer() -> None:
    none, chart = a_judgement(source_id=None), a_judgement(source_id="chart")

    figures = agreement(
        [two_readings(1, none, none), two_readings(2, chart, none), two_readings(3, chart, chart)],
        Question.SOURCE,
    )

    assert figures.raw.value == pytest.approx(2 / 3)
    assert Counter({share.label: share.count for share in figures.prevalence}) == {
        None: 3,
        "chart": 3,
    }


def test_an_unanswered_question_of_conflation_is_left_out_and_counted() -> None:
    yes, silent = a_judgement(conflation=True), a_judgement()

    figures = agreement(
        [two_readings(1, yes, yes), two_readings(2, yes, silent)], Question.CONFLATION
    )

    assert figures.claims == 1
    assert figures.left_out == {"a reviewer did not answer this question": 1}


def test_the_first_judgement_counts_unless_the_standing_one_is_asked_for() -> None:
    before, after = a_judgement("unsupported"), a_judgement("supported")
    claim = a_reviewed_claim(
        1,
        an_annotation("Ada", after, 1),
        an_annotation(
            "Ben", after, 2, first=before, saw_model_output=True, changed_after_reveal=True
        ),
    )

    assert agreement([claim], Question.SUPPORT).raw.value == 0
    assert agreement([claim], Question.SUPPORT, basis=Basis.STANDING).raw.value == 1


def test_a_reading_made_with_the_machines_view_on_screen_is_not_independent() -> None:
    claim = a_reviewed_claim(
        1, an_annotation("Ada"), an_annotation("Ben", slot=2, saw_model_output=True)
    )

    found = agreement([claim], Question.SUPPORT)
    machine = agreement_with_machine([claim], Question.SUPPORT)

    assert found.claims == 0
    assert machine.claims == 1
    assert agreement([claim], Question.SUPPORT, basis=Basis.STANDING).claims == 1


def test_agreement_with_the_machine_uses_the_judgement_before_the_reveal() -> None:
    claim = a_reviewed_claim(
        1,
        an_annotation(
            judgement=a_judgement("supported"),
            first=a_judgement("contradicted", None, conflation=True),
            saw_model_output=True,
            changed_after_reveal=True,
        ),
        signal=a_signal("supported", attribution=AttributionStatus.CONFLATION),
    )

    support = agreement_with_machine([claim], Question.SUPPORT)
    source = agreement_with_machine([claim], Question.SOURCE)
    conflation = agreement_with_machine([claim], Question.CONFLATION)
    effect = reveal_effect([claim])

    assert (support.raw.value, conflation.raw.value) == (0, 1)
    assert source.left_out == {"the reviewer named no source": 1}
    assert (effect.annotations, effect.changed) == (1, 1)
    assert (effect.towards_machine, effect.away_from_machine) == (1, 0)


def test_what_the_verifier_could_not_judge_is_left_out_of_the_comparison() -> None:
    claims = [
        a_reviewed_claim(1, an_annotation(), signal=a_signal("unjudged", routed_source_id=None)),
        a_reviewed_claim(2, an_annotation(), signal=None),
    ]

    found = agreement_with_machine(claims, Question.SUPPORT)

    assert found.claims == 0
    assert sum(found.left_out.values()) == 2


def test_nobody_reads_votes_on_a_claim_that_they_still_have_to_judge() -> None:
    same, other = a_judgement(), a_judgement("contradicted")
    claims = [
        two_readings(1, same, same),
        two_readings(2, same, other),
        two_readings(3, same, other, adjudication=an_adjudication(same)),
    ]
    lead = a_person("Dora", Role.LEAD)
    adjudicator = a_person("Eve", Role.LEAD, Role.ADJUDICATOR)
    voter = a_person("Ada", Role.LEAD, Role.ADJUDICATOR)

    assert readable_by(lead, claims, frozenset({1})).claims == tuple(claims[1:])
    assert readable_by(adjudicator, claims, frozenset()).kept_back == 1
    assert readable_by(voter, claims, frozenset()).kept_back == 0


def test_the_same_seed_gives_the_same_interval_bit_for_bit() -> None:
    rng = random.Random(1)
    claims = [
        two_readings(
            n,
            a_judgement(rng.choice(LABELS)),
            a_judgement(rng.choice(LABELS)),
            trace_id=f"t{n % 9}",
        )
        for n in range(60)
    ]

    assert agreement(claims, Question.SUPPORT) == agreement(claims, Question.SUPPORT)
    assert agreement(claims, Question.SUPPORT, seed=1) != agreement(
        claims, Question.SUPPORT, seed=2
    )


def test_a_claim_that_changed_is_compared_anew_and_the_others_are_not_forgotten() -> None:
    claims = [two_readings(n, a_judgement(), a_judgement()) for n in range(1, 4)]
    before = agreement(claims, Question.SUPPORT, resamples=5)
    changed = two_readings(2, a_judgement(), a_judgement(VerdictLabel.UNSUPPORTED))

    after = agreement([claims[0], changed, claims[2]], Question.SUPPORT, resamples=5)

    assert before.differing == ()
    assert after.differing == (2,)
    assert after.agreeing == (1, 3)
    assert agreement(claims, Question.SUPPORT, resamples=5) == before


def test_what_is_no_claim_counts_for_the_cut_of_claims_and_for_nothing_else() -> None:
    unfit = Judgement(support=Unfit.NOT_A_CLAIM, source_id=None, correction="She takes 10 mg.")
    plain = replace(unfit, correction="")
    claims = [
        two_readings(1, a_judgement(), a_judgement()),
        two_readings(2, unfit, a_judgement()),
        two_readings(3, plain, unfit),
    ]

    cut = agreement(claims, Question.CLAIM)

    assert (cut.claims, cut.agreeing, cut.differing) == (3, (1, 3), (2,))
    assert {share.label: share.count for share in cut.prevalence} == {"yes": 3, "no": 3}
    for question in (Question.SUPPORT, Question.SOURCE, Question.CONFLATION):
        found = agreement(claims, question)
        assert set(found.agreeing + found.differing) <= {1}
        assert found.left_out["a reviewer says that it is no claim, or was cut wrongly"] == 2
    assert agreement_with_machine(claims, Question.CLAIM).claims == 0
    assert agreement_with_machine(claims, Question.SUPPORT).claims == 3


def test_no_claim_against_a_claim_waits_for_a_third_person_and_corrections_do_not_differ() -> None:
    unfit = Judgement(support=Unfit.NOT_A_CLAIM, source_id=None)
    corrected = replace(unfit, correction="She takes 10 mg.")

    assert two_readings(1, unfit, a_judgement()).resolution.status is ReviewStatus.UNRESOLVED
    agreed = two_readings(2, unfit, corrected).resolution
    assert (agreed.status, agreed.final) == (ReviewStatus.UNANIMOUS, corrected)
    # A third person who finds the same keeps what the reader wrote, unless they write it themselves.
    readings = two_readings(3, corrected, a_judgement()).annotations
    for said, kept in (
        (unfit, corrected),
        (replace(unfit, correction="B"),) * 2,
        (a_judgement(),) * 2,
    ):
        found = resolve(readings, an_adjudication(said), reads=2)
        assert found is not None and found.final == kept


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (("a", "b"), ("b",), ("b",)),
        (("a", "b"), ("a", "b"), ("a", "b")),
        (("a", "b"), ("b", "a"), ("a", "b")),
        (("a", "b", "d"), ("d", "a"), ("a", "d")),
        (("a", "c"), ("b", "c"), None),  # neither's main one: the claim is not the same to both
        (("a",), ("b",), None),
        (("a",), (), None),
    ],
)
def test_sources_agree_where_the_main_one_of_either_is_among_the_others(
    one: tuple[str, ...], other: tuple[str, ...], both: tuple[str, ...] | None
) -> None:
    first, second = (
        replace(a_judgement(source_id=(*ids, None)[0]), more_source_ids=ids[1:])
        for ids in (one, other)
    )

    for claim in (two_readings(1, first, second), two_readings(1, second, first)):
        found = agreement([claim], Question.SOURCE)
        final = claim.resolution.final
        assert (len(found.agreeing), final is not None) == ((1, True) if both else (0, False))
        assert final is None or set(final.source_ids) == set(both or ())


def test_a_wrong_credit_that_one_of_two_was_silent_on_stands_in_any_order() -> None:
    silent, told = (replace(a_judgement(), conflation=said) for said in (None, True))

    for claim in (two_readings(1, silent, told), two_readings(1, told, silent)):
        assert claim.resolution.final == told
