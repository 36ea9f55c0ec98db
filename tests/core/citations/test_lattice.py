"""Claim lattices: every violation of seed 002 triggered and not triggered, in both forms."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.citations.evidence_map import EvidenceObject, evidence_object, read_evidence
from core.citations.lattice import LatticeAudit, subject_anchor, verify_lattice
from core.citations.lattice_parsers import parse_pointer_lines
from core.citations.lexical import AuditMode
from core.citations.report import lattice_document
from core.citations.rules import Kind, LatticePolicy, policy_of
from core.errors import InputError

BRIDGE = "The Ferrin Bridge over the Tarn was designed by Ilse Marden and opened in 1931."
MILL = "The Tarn Mill ground barley until a flood destroyed its wheel in 1954."
ROAD = "Highway 12 crosses the county of Ferrin near the old customs post."


def _evidence() -> tuple[EvidenceObject, ...]:
    return (
        evidence_object("E1", BRIDGE, source_root="bridge", title="Ferrin Bridge"),
        evidence_object("E2", MILL, source_root="mill", title="Tarn Mill"),
        evidence_object(
            "E3", ROAD, source_root="road", title="Highway 12", source_role="noisy_source"
        ),
    )


Claims = list[tuple[str, list[str]]]
GOOD: Claims = [
    ("Ilse Marden designed the Ferrin Bridge.", ["E1"]),
    ("A flood destroyed the wheel of the Tarn Mill in 1954.", ["E2"]),
]


def _lines(claims: Claims) -> str:
    return "\n".join(f"- {text} " + "".join(f"[{one}]" for one in ids) for text, ids in claims)


def _json(claims: Claims) -> str:
    return json.dumps({"claims": [{"text": text, "evidence_ids": ids} for text, ids in claims]})


BOTH = pytest.mark.parametrize("written", [_lines, _json], ids=["lines", "json"])


def _audit(
    answer: str, question: str | None = None, policy: LatticePolicy | None = None
) -> LatticeAudit:
    return verify_lattice(answer, _evidence(), question=question, policy=policy)


def _kinds(audit: LatticeAudit) -> set[Kind]:
    return {violation.kind for violation in audit.violations}


@BOTH
def test_002_linked_claims_are_strict(written: object) -> None:
    audit = _audit(written(GOOD))  # type: ignore[operator]

    assert audit.mode is AuditMode.STRICT
    assert [claim.status for claim in audit.claims] == ["EVIDENCE_LINKED"] * 2
    assert (audit.pairs, audit.verified_pairs) == (2, 2)
    assert BRIDGE in audit.rendered


# Each case: the violation, claims that trigger it, claims one word away that do not, and a question.
CASES: list[tuple[Kind, Claims, Claims, str | None]] = [
    (Kind.NO_EVIDENCE_POINTER, [("The bridge opened early.", []), *GOOD], GOOD, None),
    (Kind.UNKNOWN_EVIDENCE_ID, [(GOOD[0][0], ["E27"])], [(GOOD[0][0], ["E1"])], None),
    (Kind.SOURCE_ROLE_BLOCKED, [("Highway 12 crosses Ferrin.", ["E3"])], GOOD, None),
    (
        Kind.CITATION_MISMATCH,
        [("Nordvik University and the College of Orsel teach glass making near the Tarn.", ["E2"])],
        [("The Tarn Mill ground barley before a flood destroyed its wheel.", ["E2"])],
        None,
    ),
    (Kind.SCHEMA_INVALID, [("Ferrin.", ["E1"])], [("The Ferrin Bridge opened.", ["E1"])], None),
    (
        Kind.TOO_MANY_CLAIMS,
        [(f"The bridge of Ferrin has lamp {n}.", ["E1"]) for n in range(13)],
        [(f"The bridge of Ferrin has lamp {n}.", ["E1"]) for n in range(12)],
        None,
    ),
    (
        Kind.WARRANT_MISSING,
        [("The Ferrin Bridge over the Tarn was designed by Oskar Veld.", ["E1"])],
        [("The Ferrin Bridge over the Tarn was designed by Ilse Marden.", ["E1"])],
        "Who designed the Ferrin Bridge over the Tarn?",
    ),
    (
        Kind.WARRANT_MISSING,
        [("The Ferrin Bridge was opened in 1934.", ["E1"])],
        [("The Ferrin Bridge was opened in 1931.", ["E1"])],
        "When was the Ferrin Bridge opened?",
    ),
    (
        Kind.TITLE_MISMATCH,
        [("Ilse Marden designed what was opened in 1931.", ["E1"])],
        [("Ilse Marden designed the bridge.", ["E1"])],
        None,
    ),
    (
        Kind.SUBJECT_TOKENS_ABSENT,
        [("The Ferrin bridge, opened 1931 over the Tarn, uses glacier turbine ballast.", ["E1"])],
        [("The Ferrin bridge, opened 1931 over the Tarn, uses glacier turbine stone.", ["E1"])],
        "Has it glacier turbine ballast?",
    ),
    (
        Kind.LAZY_ANCHOR_DEMOTE,
        [("The Ferrin Bridge opened.", ["E1"]), ("Ilse Marden made the bridge.", ["E1"]), GOOD[0]],
        GOOD,
        None,
    ),
]


@BOTH
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].value.lower())
def test_002_a_violation_fires_and_does_not(
    written: object, case: tuple[Kind, Claims, Claims, str | None]
) -> None:
    kind, bad, good, question = case

    assert kind in _kinds(_audit(written(bad), question))  # type: ignore[operator]
    assert kind not in _kinds(_audit(written(good), question))  # type: ignore[operator]


@BOTH
def test_002_deflection_fires_and_does_not(written: object) -> None:
    claims: Claims = [("The Ferrin Bridge opened in 1931.", ["E1"])]

    asked = _audit(written(claims), "Who burned the Ferrin ferry?")  # type: ignore[operator]
    met = _audit(written(claims), "When was the Ferrin bridge opened?")  # type: ignore[operator]

    assert Kind.DEFLECTION_DETECTED in _kinds(asked)
    assert asked.mode is AuditMode.HYBRID
    assert Kind.DEFLECTION_DETECTED not in _kinds(met)


@cases
def test_002_the_word_that_a_question_turns_on(question: str, anchor: str | None) -> None:
    assert subject_anchor(question) == anchor


def test_002_pointer_overflow_is_trimmed_and_counted() -> None:
    audit = _audit(_lines([(GOOD[0][0], ["E1", "E2", "E3"])]))

    assert Kind.POINTER_OVERFLOW_TRIMMED in _kinds(audit)
    assert audit.pairs == 3
    assert audit.mode is AuditMode.HYBRID
    assert Kind.POINTER_OVERFLOW_TRIMMED not in _kinds(_audit(_lines([(GOOD[0][0], ["E1", "E2"])])))


def test_002_too_many_evidence_ids_in_json() -> None:
    audit = _audit(_json([(GOOD[0][0], ["E1", "E2", "E3"])]))

    assert Kind.TOO_MANY_EVIDENCE_IDS in _kinds(audit)
    assert Kind.TOO_MANY_EVIDENCE_IDS not in _kinds(_audit(_json(GOOD)))


def test_002_manual_quotes_are_refused_in_json_alone() -> None:
    claims: Claims = [('The bridge is called "Ferrin Bridge" there.', ["E1"])]

    assert Kind.MANUAL_QUOTE_VIOLATION in _kinds(_audit(_json(claims)))
    assert Kind.MANUAL_QUOTE_VIOLATION not in _kinds(_audit(_lines(claims)))


def test_002_format_collapsed() -> None:
    prose = "\n".join(f"The bridge number {n} is a very old one." for n in range(5))

    assert Kind.FORMAT_COLLAPSED in _kinds(_audit(prose))
    assert Kind.FORMAT_COLLAPSED not in _kinds(_audit(prose + " [E1]"))
    assert Kind.FORMAT_COLLAPSED not in _kinds(_audit("\n".join(prose.split("\n")[:4])))


def test_002_every_title_off_is_ungrounded() -> None:
    audit = _audit(_lines([("Ilse Marden designed what was opened in 1931.", ["E1"])]))

    assert audit.verified_pairs == 1
    assert audit.mode is AuditMode.UNGROUNDED


def test_002_a_warranted_document_needs_no_name() -> None:
    claims = _lines([("The Ferrin Bridge over the Tarn was designed by Oskar Veld.", ["E1"])])
    policy = LatticePolicy(warranted_roots=frozenset({"bridge"}))

    audit = _audit(claims, "Who designed the Ferrin Bridge over the Tarn?", policy)

    assert Kind.WARRANT_MISSING not in _kinds(audit)


def test_002_a_short_claim_needs_one_word_of_the_evidence() -> None:
    evidence = (evidence_object("E1", "Ferrin keeps records.", source_root="a"),)

    assert verify_lattice("Ferrin bridges collapsed. [E1]", evidence).verified_pairs == 1


def test_002_one_pointer_is_no_lazy_anchor_when_there_is_no_other() -> None:
    answer = _lines([("The Ferrin Bridge opened.", ["E1"])] * 3)

    audit = verify_lattice(answer, _evidence()[:1])

    assert Kind.LAZY_ANCHOR_DEMOTE not in _kinds(audit)


@cases
def test_002_a_lattice_of_another_shape_is_schema_invalid(answer: str) -> None:
    audit = verify_lattice(answer, _evidence(), form="json")

    assert Kind.SCHEMA_INVALID in _kinds(audit)
    assert audit.mode is AuditMode.UNGROUNDED


@BOTH
def test_the_gravest_failure_is_the_status_in_one_fixed_order(written: object) -> None:
    mixed: Claims = [("Nordvik University teaches glass making to many.", ["E2", "E99"])]
    turned: Claims = [(mixed[0][0], ["E99", "E2"])]

    first, second = (_audit(written(claims)) for claims in (mixed, turned))  # type: ignore[operator]

    assert first.claims[0].status == second.claims[0].status == "UNKNOWN_EVIDENCE_ID"


@BOTH
def test_every_claim_is_counted_once_and_every_violation_says_whose_it_is(written: object) -> None:
    claims: Claims = [
        ("The bridge opened early.", []),
        ("Ferrin.", ["E1"]),
        *GOOD,
        (GOOD[0][0], ["E7"]),
    ]

    audit = _audit(written(claims))  # type: ignore[operator]

    assert [claim.claim_index for claim in audit.claims] == [0, 1, 2, 3, 4]
    assert audit.pairs == 5
    assert {v.claim_index for v in audit.violations} == {0, 1, 4}


def test_both_forms_are_judged_by_the_same_rules() -> None:
    for kind, bad, _, question in CASES:
        lines, as_json = _audit(_lines(bad), question), _audit(_json(bad), question)
        assert [c.status for c in lines.claims] == [c.status for c in as_json.claims], kind
        assert _kinds(lines) == _kinds(as_json), kind


def test_pointer_lines_keep_their_places() -> None:
    answer = (
        "# Bridges\nHere they are:\n1. One stands. [E1] Another fell. [E2, E3]\n\nNobody knows why."
    )

    lattice = parse_pointer_lines(answer)

    assert [(c.text, c.pointers) for c in lattice.claims] == [
        ("One stands.", ("E1",)),
        ("Another fell.", ("E2", "E3")),
        ("Nobody knows why.", ()),
    ]
    assert all(c.span is not None and c.span.cut(answer) == c.text for c in lattice.claims)


@given(st.text(alphabet="ab E1[],.;\n-", max_size=80))
def test_any_text_is_verified(answer: str) -> None:
    audit = verify_lattice(answer, _evidence(), question="Who made it?")

    assert audit.verified_pairs <= audit.pairs
    assert (audit.mode is AuditMode.STRICT) <= (audit.verified_pairs > 0 and not audit.violations)


def test_the_id_of_evidence_is_its_content() -> None:
    first, again = (evidence_object(p, BRIDGE, source_root="bridge") for p in ("E1", "E9"))
    other = evidence_object("E1", MILL, source_root="bridge")

    assert first.evidence_id == again.evidence_id != other.evidence_id


@pytest.mark.parametrize(
    ("items", "place"),
    [
        ({}, "evidence"),
        ([3], r"evidence\[0\]"),
        ([{"span": 3}], r"evidence\[0\].span"),
        ([{"span": " "}], r"evidence\[0\].span"),
        ([{"span": "a", "pointer": "E1"}, {"span": "b", "pointer": "E1"}], "E1 stands twice"),
    ],
)
def test_evidence_that_cannot_be_read_says_where(items: object, place: str) -> None:
    with pytest.raises(InputError, match=place):
        read_evidence(items)


def test_002_a_bare_name_is_no_claim_and_a_title_before_a_name_does_not_hide_it() -> None:
    dinosaur = evidence_object(
        "E15", "Tyrannosaurus rex roars in the game.", source_root="game", title="Rex"
    )
    voice = evidence_object(
        "E1",
        "Dan Castellaneta is the voice of Homer Simpson and of his boss's dog.",
        source_root="voices",
        title="Homer Simpson",
    )
    bare = verify_lattice("Tyrannosaurus rex. [E15]", [dinosaur])
    asked = "Who is Homer Simpson's boss?"
    boss = verify_lattice("Mr. Burns is Homer Simpson's boss. [E1]", [voice], question=asked)

    assert _kinds(bare) == {Kind.SCHEMA_INVALID}
    assert boss.mode is AuditMode.HYBRID
    assert _kinds(boss) == {Kind.WARRANT_MISSING}
    assert _kinds(verify_lattice("BMI is 31. [E1]", [voice])) == {Kind.CITATION_MISMATCH}


def test_002_warranted_roots_suppress_and_are_listed() -> None:
    voice = evidence_object(
        "E1", "Homer Simpson works at the plant.", source_root="v", title="Homer"
    )
    answer, asked = "Mr. Burns is Homer Simpson's boss. [E1]", "Who is Homer Simpson's boss?"
    alone = lattice_document(verify_lattice(answer, [voice], question=asked))
    chain = LatticePolicy(warranted_roots=frozenset({"v"}))
    proven = lattice_document(verify_lattice(answer, [voice], question=asked, policy=chain))

    assert (alone["warrant_missing_claim_idxs"], alone["warrant_proven_claim_idxs"]) == ([0], [])
    assert (proven["warrant_missing_claim_idxs"], proven["warrant_proven_claim_idxs"]) == ([], [0])
    assert proven["pointer_id_distribution"] == {"E1": 1}
    assert len(proven["evidence_id_pairs"]) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", ["claims=3", "off=NOTHING", "claims_per_answer=many"])
def test_a_threshold_that_is_none_is_refused_by_name(wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong.split("=")[1 if "claims=" not in wrong else 0]):
        policy_of([wrong])
