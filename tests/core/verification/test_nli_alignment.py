"""III.4: relation and alignment."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import a_claim, an_nli_score
from hypothesis import given
from hypothesis import strategies as st

from core.config import Config
from core.errors import NliError
from core.records import NliScore, Premise, Probabilities, Relation, Span, TokenScore
from core.text.tokens import is_content_word
from core.verification.reading import align_tokens, judge_relation

SENTENCE = "Felipe Costa takes salbutamol for his asthma"


def test_probabilities_that_do_not_sum_to_one_are_refused() -> None:
    broken = NliScore(
        probabilities=Probabilities(entailment=0.9, neutral=0.9, contradiction=0.0),
        tokens=(),
        premise_truncated=False,
    )

    with pytest.raises(NliError, match="sum to 1.8"):
        judge_relation(broken)


@pytest.mark.parametrize(
    ("entailment", "neutral", "contradiction", "relation"),
    [
        (0.5, 0.5, 0.0, Relation.NEUTRAL),
        (0.5, 0.0, 0.5, Relation.CONTRADICTION),
        (0.4, 0.2, 0.4, Relation.CONTRADICTION),
        (0.5, 0.3, 0.2, Relation.ENTAILMENT),
    ],
)
def test_ties_go_to_the_more_cautious_relation(
    entailment: float, neutral: float, contradiction: float, relation: Relation
) -> None:
    found = Probabilities(entailment=entailment, neutral=neutral, contradiction=contradiction)

    assert found.relation is relation


@given(
    st.lists(st.floats(0, 1).map(lambda x: round(x, 4)), min_size=7, max_size=7), st.floats(0, 1)
)
def test_alignment_is_the_papers_equation(scores: list[float], tau: float) -> None:
    found = align_tokens(
        a_claim(SENTENCE), an_nli_score(SENTENCE, *scores), Config(alignment_tau=tau)
    )

    content = [
        score for word, score in zip(SENTENCE.split(), scores, strict=True) if is_content_word(word)
    ]
    grounded = [score for score in content if score >= tau * max(scores)]
    expected = round(len(grounded) / len(content), 4) if max(scores) > 0 else 0.0
    assert found.supported_token_ratio == expected
    assert [t.weak for t in found.tokens if is_content_word(t.text)] == [
        score < tau * max(scores) for score in content
    ]


def test_a_higher_tau_never_grounds_more() -> None:
    nli_score = an_nli_score(SENTENCE, 0.9, 0.5, 0.1, 0.4, 0.2, 0.3, 0.7)

    ratios = [
        align_tokens(
            a_claim(SENTENCE), nli_score, Config(alignment_tau=t / 20)
        ).supported_token_ratio
        for t in range(21)
    ]

    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] == 1.0


def test_a_claim_without_content_words_does_not_pass_for_grounded() -> None:
    assert (
        align_tokens(a_claim("It is."), an_nli_score("It is."), Config()).supported_token_ratio
        == 0.0
    )


def test_the_words_of_the_source_that_were_looked_at_have_their_places_in_the_source() -> None:
    text = "Plan.\nGive warfarin 5 mg.\nUnrelated line.\nINR is 2.4 today."
    spans = tuple(
        Span(start=text.index(part), end=text.index(part) + len(part))
        for part in ("Give warfarin 5 mg.", "INR is 2.4 today.")
    )
    premise = Premise(
        source_id="s", text="\n".join(span.cut(text) for span in spans), spans=spans, truncated=True
    )
    scores = {"Give": 0.2, "warfarin": 0.9, "INR": 0.05, "2.4": 0.8, "is": 0.9}
    nli_score = replace(
        an_nli_score("Warfarin is given."),
        premise_tokens=tuple(
            TokenScore(
                span=Span(start=premise.text.index(word), end=premise.text.index(word) + len(word)),
                score=score,
            )
            for word, score in scores.items()
        ),
    )

    found = align_tokens(
        a_claim("Warfarin is given."), nli_score, Config(alignment_tau=0.2), premise
    )

    assert [(t.span.cut(text), t.score) for t in found.source_tokens] == [
        ("Give", 0.2), ("warfarin", 0.9), ("2.4", 0.8)
    ]  # fmt: skip
