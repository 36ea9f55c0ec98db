"""Distortions: every lexicon entry's example and counter-example, and what must always be true."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tables import cases

from core.distortions.alignment import Prose, Sentence, prose_of, read_prose
from core.distortions.checks import INFORMING, check_distortions, check_drift
from core.distortions.detect import find_distortions
from core.distortions.reading import CueEntry, cue_entries, read_sentence
from core.distortions.records import DistortionKind
from core.evidence.words import stem
from core.records import (
    Check,
    Claim,
    FactPlace,
    Outcome,
    Probabilities,
    Source,
    Span,
    Trace,
)
from tests.builders import a_claim
from training.texts import text_folder

PAIRS = text_folder() / "pairs"
EXAMPLES = [e for e in cue_entries() if e.example is not None]
COUNTERS = [e for e in cue_entries() if e.counter is not None]


def prose(*texts: str) -> Prose:
    return prose_of(
        [
            Sentence(
                source_id="s",
                span=Span(start=0, end=len(text)),
                text=text,
                stems=frozenset(stem(word.text) for word in read_sentence(text).words),
            )
            for text in texts
        ]
    )


def trace(text: str) -> Trace:
    source = Source(source_id="paper#0", tool_name="search_papers", text=text)
    return Trace(trace_id="t", question="", answer=None, sources=(source,))


def name(entry: CueEntry) -> str:
    return f"{entry.feature}-{entry.value}-{entry.form}"


@pytest.mark.parametrize("entry", EXAMPLES, ids=name)
def test_the_example_of_an_entry_is_accused(entry: CueEntry) -> None:
    assert entry.example is not None
    source, claim = entry.example

    assert find_distortions(claim, prose(source))


@pytest.mark.parametrize("entry", COUNTERS, ids=name)
def test_the_counter_example_of_an_entry_is_not_accused(entry: CueEntry) -> None:
    assert entry.counter is not None
    source, claim = entry.counter

    assert find_distortions(claim, prose(source)) == ()


@pytest.mark.parametrize("entry", EXAMPLES, ids=name)
def test_a_sentence_told_word_for_word_is_never_accused(entry: CueEntry) -> None:
    assert entry.example is not None
    source, claim = entry.example

    assert find_distortions(source, prose(source)) == ()
    assert find_distortions(claim, prose(claim)) == ()


def test_a_second_sentence_that_says_it_as_the_claim_does_clears_the_claim() -> None:
    source = "The serum may reduce scarring in burns."
    claim = "The serum reduces scarring in burns."

    alone = find_distortions(claim, prose(source))
    beside = find_distortions(claim, prose(source, "In burns, the serum reduces scarring."))

    assert {found.kind for found in alone} >= {DistortionKind.QUALIFIER_DROPPED}
    assert beside == ()


def test_what_somebody_is_quoted_as_saying_limits_nothing() -> None:
    source = "The poster “it may rain” reduced attendance at the fair."

    assert find_distortions("The poster reduced attendance at the fair.", prose(source)) == ()


def test_the_check_shows_both_texts_and_where_the_source_says_it() -> None:
    text = "Methods were simple. Noise at night was associated with restless sleep in tenants."
    claim = "Noise at night causes restless sleep in tenants."
    made = Claim(claim_id="c", text=claim, span=Span(start=0, end=len(claim)), said=claim)

    checks = check_distortions(made, read_prose(trace(text)))

    (check,) = [c for c in checks if c.check == "association as cause"]
    place = check.facts[0]
    assert check.outcome is Outcome.CONTRADICTS
    assert not check.veto
    assert place.span is not None
    assert text[place.span.start : place.span.end] == "associated"
    assert check.claim_span is not None
    assert claim[check.claim_span.start : check.claim_span.end] == "causes"
    assert "“associated”" in check.reason and "“causes”" in check.reason


def test_records_and_tables_are_no_prose() -> None:
    lines = ('{"status": "stopped", "drug": "naproxen"}', "| drug | status |")
    text = "\n".join([*lines, "- drug: naproxen, status: stopped"])

    assert read_prose(trace(text)).sentences == ()


def test_from_x_to_y_is_held_against_the_words_of_direction() -> None:
    source = "Admissions went from 210 to 260 in the coastal district."

    rose = find_distortions("Admissions in the coastal district rose.", prose(source))
    fell = find_distortions("Admissions in the coastal district fell.", prose(source))

    assert rose == ()
    assert [found.kind for found in fell] == [DistortionKind.DIRECTION_REVERSED]


def test_undoing_the_feature_leaves_nothing_to_accuse() -> None:
    source = "Late shifts were associated with burnout among nurses."
    claim = "Late shifts cause burnout among nurses."

    (found,) = find_distortions(claim, prose(source))
    changed = found.difference

    assert changed.claim_span is not None
    undone = claim[: changed.claim_span.start] + changed.stated + claim[changed.claim_span.end :]
    assert find_distortions(undone, prose(source)) == ()


def test_animal_studies_told_of_people_are_found_though_the_sentence_names_nobody() -> None:
    source = prose(
        "We studied obese mice on a rich diet.",
        "The stabiliser reduced weight gain on a rich diet.",
    )

    found = find_distortions(
        "In patients, the stabiliser reduced weight gain on a rich diet.", source
    )

    assert DistortionKind.SCOPE_CHANGED in {each.kind for each in found}


# ---------------------------------------------------------------- fields

ABSTRACT = (
    "count: 1\nresults.pmid: 10\nresults.abstract: A screen for repair genes. We deleted one gene in mice. "
    "Deletion of the gene suppressed tumour growth [95% CI] and prolonged survival.\nresults.year: 2020\n"
)


def test_the_abstract_in_a_record_is_read_as_prose_at_its_places() -> None:
    read = read_prose(trace(ABSTRACT))

    assert [each.text[:11] for each in read.sentences] == [
        "A screen fo",
        "We deleted ",
        "Deletion of",
    ]
    assert all(each.in_field and each.span.cut(ABSTRACT) == each.text for each in read.sentences)


def test_what_is_told_otherwise_than_an_abstract_in_a_record_informs() -> None:
    (found,) = check_distortions(
        a_claim("Deletion of the gene accelerated tumour growth in mice."),
        read_prose(trace(ABSTRACT)),
    )

    assert (found.check, found.outcome) == ("direction reversed", Outcome.SILENT)
    (place,) = found.facts
    assert place.span is not None and place.span.cut(ABSTRACT) == "suppressed"


@cases
def test_dumps_and_what_is_no_finding_are_not_told_by_anything(text: str) -> None:
    assert read_prose(trace(text)).sentences == ()


@cases
def test_a_group_named_by_what_it_lacks_denies_nothing(source: str, said: str) -> None:
    assert DistortionKind.NEGATION_FLIP not in {
        found.kind for found in find_distortions(said, prose(source))
    }


# ---------------------------------------------------------------- drift

TOLD = "Oral vaccination protected the animals of the treated group from the viral challenge."
MEANT = "Oral vaccination of the treated group left the animals open to the viral challenge."
DENIED = Probabilities(entailment=0.1, neutral=0.2, contradiction=0.7)
HELD = Probabilities(entailment=0.6, neutral=0.2, contradiction=0.2)


def drift(
    text: str, *others: Probabilities, checks: Sequence[Check] = (), source: str = TOLD
) -> Check | None:
    return check_drift(a_claim(text), prose(source), checks, [DENIED], [DENIED, *others])


def test_what_the_reader_denies_and_no_named_kind_explains_drifts_and_only_informs() -> None:
    assert find_distortions(MEANT, prose(TOLD)) == ()

    found = drift(MEANT)

    assert found is not None
    assert (found.check, found.outcome, found.veto) == ("semantic drift", Outcome.SILENT, False)
    assert found.facts == (FactPlace(source_id="s", span=Span(start=0, end=len(TOLD))),)


def test_nothing_drifts_that_is_named_entailed_elsewhere_or_about_something_else() -> None:
    named = Check(check="negation flip", outcome=Outcome.CONTRADICTS, reason="r")

    assert drift(MEANT, checks=[named]) is None
    assert drift(MEANT, HELD) is None
    assert drift(MEANT, source="Sales of the northern region were reported in the spring.") is None
    assert check_drift(a_claim(MEANT), prose(TOLD), (), [HELD], [HELD]) is None


def test_a_degree_in_the_place_of_a_number_informs_and_accuses_nothing() -> None:
    fact = "TLS 1.3 reduces handshake to 1-RTT"

    found = find_distortions("TLS 1.3 greatly improves handshake speed", prose(fact))
    exact = find_distortions("TLS 1.3 greatly improves the handshake to 1-RTT", prose(fact))

    assert [each.kind for each in found] == [DistortionKind.SPECIFICITY_LOST]
    assert (found[0].difference.said, found[0].difference.stated) == ("greatly", "1-RTT")
    assert DistortionKind.SPECIFICITY_LOST in INFORMING
    assert exact == ()
