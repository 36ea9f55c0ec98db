"""The proof of a judge's verdict: what is accepted, and that nothing else is."""

import gzip
import json
import random
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.frozen import readable
from core.evaluation.packets import read_packet
from core.judge.proof import prove
from core.judge.testimony import Material, material_of
from core.records import Source, SourceStatus
from core.records.judge import (
    CALLS,
    Conflict,
    JudgeQuote,
    JudgeReading,
    JudgeVerdict,
    Proof,
    Proved,
    QuotedPart,
    Unproved,
)
from tests.builders import a_claim, a_source, a_trace

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
TRIAL = SHARED / "judge"
CASES = [
    json.loads(line)
    for line in Path(__file__).with_name("proofs.jsonl").read_text("utf-8").splitlines()
]
LABS = """patient: OKONJO, ADAEZE
test: Creatinine
value: 168
unit: umol/L
collected: 2026-02-09T11:20

patient: OKONSKI, PAWEL
test: Creatinine
value: 812
unit: umol/L
collected: 2026-02-11T09:40"""


def reading(
    verdict: str, *quotes: tuple[str, str], calculations: tuple[str, ...] = (), **more: object
) -> JudgeReading:
    return JudgeReading(
        verdict=JudgeVerdict(verdict),
        evidence=tuple(JudgeQuote(source_id=source, quote=quote) for source, quote in quotes),
        calculations=calculations,
        **more,  # type: ignore[arg-type]
    )


def proof_of(claim: str, said: JudgeReading, *sources: Source) -> Proof:
    return prove(a_claim(claim), said, material_of(a_trace("", *sources)))


def fails(proof: Proof, words: str) -> bool:
    return isinstance(proof, Unproved) and any(words in reason for reason in proof.failed)


def test_a_quoted_value_proves_support_and_its_place_is_kept() -> None:
    quote = "patient: OKONJO, ADAEZE\ntest: Creatinine\nvalue: 168"

    proof = proof_of(
        "Adaeze Okonjo's creatinine was 168.",
        reading("supported", ("labs", quote)),
        a_source(LABS, "labs"),
    )

    assert isinstance(proof, Proved)
    assert [place.span.cut(LABS) for place in proof.places] == [quote]


def test_a_quote_is_found_with_its_white_space_escapes_and_signs_made_alike() -> None:
    text = "note: the “target”   range\nis 5–8 mmol/L"

    proof = proof_of(
        "The target range is 5 to 8 mmol/L.",
        reading("supported", ("chart", 'the \\"target\\" range\\nis 5-8 mmol/L')),
        a_source(text),
    )

    assert isinstance(proof, Proved) and not proof.places[0].exact
    assert proof.places[0].span.cut(text) == text[6:]


def test_a_claim_without_values_is_bound_by_a_word_beside_its_names() -> None:
    chart = a_source(
        "patient: Kit Ferreday\nkidneys: fine\n\npatient: Kit Ferreday\nweight: 64 kg", "chart#1"
    )
    said = "Kit Ferreday's kidneys are fine."
    weight = ("chart#1", "patient: Kit Ferreday\nweight: 64 kg")

    own = proof_of(
        said, reading("supported", ("chart#1", "patient: Kit Ferreday\nkidneys: fine")), chart
    )
    name_alone = proof_of(said, reading("supported", weight), chart)
    any_sum = proof_of(said, reading("supported", weight, calculations=("64 * 2",)), chart)

    assert isinstance(own, Proved)
    assert fails(name_alone, "beside its names") and fails(any_sum, "beside its names")


def test_a_calculation_is_told_with_its_result() -> None:
    source = a_source("dose: 113 mg, weight: 16.2 kg")
    said = reading("supported", ("chart", source.text), calculations=("113 / 16.2",))

    proof = proof_of("The gentamicin dose is 7 mg/kg.", said, source)

    assert isinstance(proof, Proved)
    assert [(c.expression, c.result) for c in proof.calculations] == [("113 ÷ 16.2", "6.97531")]


def test_arguments_and_the_list_of_calls_testify_of_what_was_asked_and_done() -> None:
    call = a_source(
        "temperature: 21 C",
        "weather#1",
        "get_weather",
        arguments='{"city": "Lindhaven", "date": "2026-04-22"}',
    )
    said = reading(
        "supported",
        ("weather#1", "temperature: 21 C"),
        ("weather#1", '"date": "2026-04-22"'),
        (CALLS, "succeeded"),
    )

    proof = proof_of("In Lindhaven it is 21 °C on 22 April 2026.", said, call)

    assert isinstance(proof, Proved)
    assert [place.part for place in proof.places] == [
        QuotedPart.OUTPUT,
        QuotedPart.ARGUMENTS,
        QuotedPart.CALLS,
    ]


def test_a_name_that_stands_in_a_call_again_and_again_is_looked_for_once() -> None:
    source = a_source("departs: 21:05", "flights", arguments="NV," * 60_000)
    said = reading("supported", ("flights", "departs: 21:05"))

    began = time.process_time()
    proof = proof_of("NV 423 departs at 21:05.", said, source)

    assert time.process_time() - began < 10  # minutes, where each was looked behind
    assert fails(proof, "“423”")


@pytest.mark.parametrize("case", CASES, ids=[one["because"] for one in CASES])
def test_what_is_proved_and_what_is_not(case: dict[str, Any]) -> None:
    sources = [
        a_source(**{**one, "status": SourceStatus(one.get("status", "ok"))})
        for one in case["sources"]
    ]
    conflict = case.get("conflict")
    said = reading(
        case["verdict"],
        *map(tuple, case["quotes"]),
        calculations=tuple(case.get("calculations", ())),
        conflict=conflict and Conflict(claim_part=conflict[0], source_part=conflict[1]),
    )
    trace = a_trace(case.get("answer", ""), *sources)
    trace = replace(trace, question=case.get("question", trace.question))

    proof = prove(a_claim(case["claim"]), said, material_of(trace))

    assert type(proof).__name__ == case["outcome"], proof
    assert "fails" not in case or fails(proof, case["fails"]), proof


@given(st.integers(100, 999), st.integers(0, 2), st.integers(1, 9))
def test_a_changed_digit_in_claim_or_quote_never_proves(value: int, place: int, by: int) -> None:
    digits = str(value)
    other = digits[:place] + str((int(digits[place]) + by) % 10) + digits[place + 1 :]
    source = a_source(f"patient: Elena Marchetti\nsodium: {value} mmol/L\nstatus: final")
    quote = ("chart", f"sodium: {value} mmol/L")

    assert isinstance(
        proof_of(f"Her sodium is {value} mmol/L.", reading("supported", quote), source), Proved
    )
    assert isinstance(
        proof_of(f"Her sodium is {other} mmol/L.", reading("supported", quote), source), Unproved
    )
    wrong = ("chart", f"sodium: {other} mmol/L")
    assert fails(
        proof_of(f"Her sodium is {other} mmol/L.", reading("supported", wrong), source), "not in"
    )


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=40))
def test_whatever_a_model_replies_the_outcome_says_why(
    quote: str, expression: str, part: str
) -> None:
    said = reading(
        "contradicted" if len(quote) % 2 else "supported",
        ("labs", quote),
        calculations=(expression,),
        conflict=Conflict(claim_part=part, source_part=quote),
    )

    proof = proof_of("Adaeze Okonjo's creatinine was 999.", said, a_source(LABS, "labs"))

    assert isinstance(proof, Unproved) and all(proof.failed)


# ---------------------------------------------------------------- the first trial


def _trial() -> list[tuple[str, str, str, JudgeReading, Material]]:
    """Claim, its label, its request, the reading and the material of every reply."""
    rows = {}
    for row in read_packet(SHARED / "packets" / "multirecord_dev.jsonl.gz").rows:
        rows[row.trace_id, row.claim] = row
    requests = {
        r["request"]: r
        for r in json.loads(gzip.decompress((TRIAL / "requests.json.gz").read_bytes()))
    }
    materials: dict[str, Material] = {}
    found = []
    for line in gzip.decompress((TRIAL / "replies.jsonl.gz").read_bytes()).splitlines():
        reply = json.loads(line)
        name, asked = reply["request"], requests[reply["request"]]
        claim = asked["claims"][reply["n"] - 1]["text"]
        row = rows[name, claim]
        if name not in materials:
            sources = tuple(readable(source) for source in row.sources)
            materials[name] = material_of(
                replace(a_trace("", *sources), question=asked["question"])
            )
        said = reading(
            reply["verdict"],
            *((quote["source_id"], quote["quote"]) for quote in reply["evidence"]),
            calculations=(reply["calculation"],) if reply["calculation"] else (),
        )
        found.append((claim, str(row.label), name, said, materials[name]))
    return found


@pytest.mark.skipif(not TRIAL.is_dir(), reason="the replies of the first trial are not here")
def test_the_proofs_of_the_first_trial() -> None:
    trial = _trial()
    outcomes = Counter(
        (label == "supported", type(proof).__name__, said.verdict.value)
        for claim, label, _, said, material in trial
        for proof in (prove(a_claim(claim), said, material),)
    )

    assert outcomes[True, "Proved", "supported"] >= 141  # of 156 that the judge calls supported
    assert outcomes[True, "Proved", "contradicted"] == 0
    assert outcomes[False, "Proved", "contradicted"] >= 11  # of 14; these replies name no conflict
    # The fifteenth wrong one is a wrong credit: its claim is supported, and the credit is told apart.
    assert outcomes[False, "Proved", "supported"] <= 1


@pytest.mark.stress
@pytest.mark.skipif(not TRIAL.is_dir(), reason="the replies of the first trial are not here")
def test_a_changed_digit_in_a_quote_of_the_first_trial_never_proves() -> None:
    rng = random.Random(7)
    changed = 0
    for claim, _, _, said, material in _trial():
        for at, evidence in enumerate(said.evidence):
            places = [i for i, letter in enumerate(evidence.quote) if letter.isdigit()]
            if not places:
                continue
            i = rng.choice(places)
            digit = str((int(evidence.quote[i]) + rng.randint(1, 9)) % 10)
            quote = replace(evidence, quote=evidence.quote[:i] + digit + evidence.quote[i + 1 :])
            if any(quote.quote in (s.text, s.raw or "") for s in material.sources.values()):
                continue
            kept = (*said.evidence[:at], quote, *said.evidence[at + 1 :])
            proof = prove(a_claim(claim), replace(said, evidence=kept), material)
            assert not isinstance(proof, Proved), (claim, quote)
            changed += 1
    assert changed > 300
