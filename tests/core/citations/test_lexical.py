"""The lexical audit: seed 002, by its strategies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.citations.lexical import (
    AuditMode,
    EntityPolicy,
    UnitStatus,
    audit_lexically,
    entity_units,
    quoted_units,
    span_units,
)
from core.citations.normal import Context

LAKE = (
    "Lake Orsel is the deepest lake of the Valden Highlands. Its surface lies 8,849 feet above the "
    "sea. Water at its shore boils at 100 degrees when pressure is normal. Surveys of the western "
    "basin began after the harbour of Nordvik was finished."
)


def test_002_quote_every_quote_in_the_evidence_is_strict() -> None:
    audit = audit_lexically(
        'It is "the deepest lake" of the region, say the "Valden Highlands".', LAKE
    )

    assert (audit.mode, audit.method) == (AuditMode.STRICT, "quote")
    assert [unit.status for unit in audit.units] == [UnitStatus.VERIFIED_QUOTE] * 2


@pytest.mark.parametrize("pair", ['"{}"', "“{}”"])
def test_002_quote_some_is_hybrid_and_none_is_ungrounded(pair: str) -> None:
    good, bad = pair.format("the deepest lake"), pair.format("the coldest lake")

    assert audit_lexically(f"They say {good} and {bad}.", LAKE).mode is AuditMode.HYBRID
    assert audit_lexically(f"They say {bad}.", LAKE).mode is AuditMode.UNGROUNDED
    assert audit_lexically(f"They say {bad}.", LAKE).unverified == ("the coldest lake",)


def test_002_quote_below_eight_characters_are_no_quotes() -> None:
    assert quoted_units('a "deepest" lake') == ()
    assert [unit.text for unit in quoted_units('a "deepest lake"')] == ["deepest lake"]


def test_002_quote_prose_between_two_quotes_is_not_a_quote() -> None:
    quotes = quoted_units('"the first title" stands before the "second quotation"')

    assert [unit.text for unit in quotes] == ["the first title", "second quotation"]


def test_an_inch_mark_opens_no_quote() -> None:
    quotes = quoted_units('A 12" pipe, called "the long feeder", runs there.')

    assert [unit.text for unit in quotes] == ["the long feeder"]


def test_a_quote_inside_a_longer_number_is_not_in_the_evidence() -> None:
    assert Context("Give 150 mg daily").place("50 mg daily") is None
    assert Context("Give 2.50 mg daily").place("50 mg daily") is None
    assert Context("Take 5.5 tablets").place("Take 5") is None
    assert Context("Take 5. Then rest").place("take 5.") == 0


def test_002_span_verbatim_sentences_are_strict() -> None:
    audit = audit_lexically("- Its surface lies 8,849 feet above the sea.", LAKE)

    assert (audit.mode, audit.method) == (AuditMode.STRICT, "span")


@pytest.mark.parametrize(
    "tail",
    ["(Source: https://example.org/lake)", "(see Orsel_(lake))", "(https://example.org)", "[E3]"],
)
def test_002_span_one_trailing_citation_is_stripped(tail: str) -> None:
    units = span_units(f"Its surface lies high above the sea {tail}.")

    assert [unit.text for unit in units] == ["Its surface lies high above the sea"]


def test_002_span_a_parenthesis_of_prose_stays() -> None:
    units = span_units("It lies near Nordvik (a harbour town).")

    assert units[0].text.endswith("(a harbour town).")


def test_002_span_framing_is_stripped_and_an_abstention_is_no_span() -> None:
    stripped = span_units("According to the sources, it is the deepest lake.")
    abstained = span_units("The sources do not say how cold it is.")

    assert [unit.text for unit in stripped] == ["it is the deepest lake."]
    assert abstained == ()


def test_002_paraphrase_needs_coverage_and_tokens() -> None:
    said = "Surveys of the western basin began after Nordvik harbour was finished."
    other = "Surveys of the western basin ended before Nordvik railways were flooded."

    assert audit_lexically(said, LAKE).units[0].status is UnitStatus.SUPPORTED_PARAPHRASE
    assert audit_lexically(said, LAKE).method == "paraphrase"
    assert audit_lexically(other, LAKE).mode is AuditMode.UNGROUNDED


def test_002_paraphrase_a_number_must_be_in_the_evidence() -> None:
    fifty = "At its shore, water boils at 50 degrees when the pressure is normal."
    hundred = fifty.replace("50", "100")

    assert audit_lexically(fifty, LAKE).units[0].status is UnitStatus.UNSUPPORTED
    assert audit_lexically(hundred, LAKE).units[0].status is UnitStatus.SUPPORTED_PARAPHRASE


def test_002_paraphrase_thousands_commas_do_not_matter() -> None:
    plain = "The lake surface lies 8849 feet, measured above the water of the western basin."
    other = plain.replace("8849", "884")

    assert audit_lexically(plain.replace("measured ", ""), LAKE).method == "paraphrase"
    assert audit_lexically(other.replace("measured ", ""), LAKE).method == "none"


CAST = "Starring: Ada Brandt, Milo Keres, Tove Lindqvist. Directed by Henrik Aas in the old studio."


@pytest.mark.parametrize(
    ("policy", "mode"),
    [
        (EntityPolicy.STRICT, AuditMode.STRICT),
        (EntityPolicy.HYBRID, AuditMode.HYBRID),
        (EntityPolicy.DROP, AuditMode.UNGROUNDED),
        (EntityPolicy.PROXIMITY, AuditMode.STRICT),
    ],
)
def test_002_entity_each_policy(policy: EntityPolicy, mode: AuditMode) -> None:
    answer = "Ada Brandt and Milo Keres and Tove Lindqvist"

    assert audit_lexically(answer, CAST, entity_policy=policy).mode is mode


def test_002_entity_scattered_names_are_hybrid() -> None:
    far = CAST.replace(", Milo", " " + "x" * 400 + " Milo").replace(
        ", Tove", " " + "y" * 400 + " Tove"
    )

    audit = audit_lexically("Ada Brandt and Milo Keres and Tove Lindqvist", far)

    assert (audit.mode, audit.method) == (AuditMode.HYBRID, "entity")
    wider = audit_lexically("Ada Brandt and Milo Keres and Tove Lindqvist", far, window=1200)
    two = audit_lexically("Ada Brandt and Milo Keres", far, near=2, window=500)
    assert (wider.mode, two.mode) == (AuditMode.STRICT, AuditMode.STRICT)


def test_002_entity_one_sentence_gate() -> None:
    source = "Quinolase was isolated by Edmund Harrow."
    swapped = audit_lexically("Heparinol came from Edmund Harrow.", source)
    kept = audit_lexically("Quinolase came from Edmund Harrow.", source)

    assert swapped.mode is AuditMode.UNGROUNDED
    assert kept.mode is AuditMode.HYBRID


def test_002_entity_a_phrase_does_not_cross_a_line() -> None:
    assert [unit.text for unit in entity_units("Tove Lindqvist\nThe sources")] == ["Tove Lindqvist"]


def test_002_nothing_to_check_is_ungrounded() -> None:
    audit = audit_lexically("", LAKE)

    assert (audit.mode, audit.method, audit.units) == (AuditMode.UNGROUNDED, "none", ())


def test_wiki_markup_of_the_evidence_does_not_hide_a_quote() -> None:
    context = "'''Orsel''' is a [[mountain lake|lake]] of [[Valden]].<ref>x</ref>"

    assert audit_lexically('It is "a lake of Valden".', context).mode is AuditMode.STRICT


def test_the_share_of_the_answer_that_was_audited_is_told() -> None:
    quoted = 'It is "the deepest lake", and it was dug by giants in one cold night long ago.'

    audit = audit_lexically(quoted, LAKE)

    assert audit.mode is AuditMode.STRICT
    assert audit.covered < 0.25


@given(st.text(max_size=300), st.text(max_size=300))
def test_every_unit_is_cut_from_the_answer(answer: str, evidence: str) -> None:
    audit = audit_lexically(answer, evidence)

    assert all(unit.span.cut(answer) == unit.text for unit in audit.units)
    assert audit.mode is not AuditMode.STRICT or audit.verified == len(audit.units) > 0
    assert 0 <= audit.covered <= 1


@given(st.text(min_size=12, max_size=80, alphabet="abcdefgh klmnop"))
def test_what_is_copied_from_the_evidence_is_always_found(text: str) -> None:
    unit = " ".join(text.split())

    if unit:
        assert Context(f"Before. {unit} After.").holds(unit)
