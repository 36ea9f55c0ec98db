"""A value accounts for a claim only in the record that the claim names, whatever the format."""

from __future__ import annotations

import json

import pytest
from tables import cases

from core.evaluation.frozen import readable
from core.evidence.checks import check_claim, read_trace_facts
from core.evidence.stated_whole import WHOLE
from core.records import Check, Outcome, Source
from core.text.fields import enclosed
from tests.builders import a_claim, a_source, a_trace

PATIENTS = [
    {"patient": "Ines Park", "potassium": "3.1 mmol/L", "sodium": "140 mmol/L"},
    {"patient": "Ole Berg", "potassium": "5.6 mmol/L", "sodium": "128 mmol/L"},
]
ACCOUNTS = [
    {"account": "Northwind", "tier": "Gold", "seats": 140, "owner": "Priya Raman"},
    {"account": "Contoso", "tier": "Silver", "seats": 35, "owner": "Leo Brandt"},
]
INVOICES = [
    {"invoice": "INV-1", "status": "paid", "amount": "EUR 100.00"},
    {"invoice": "INV-2", "status": "overdue", "amount": "EUR 250.00"},
]
STAGES = {
    "staging": {"replicas": 2, "timeout_s": 30},
    "production": {"replicas": 5, "timeout_s": 60},
}
TABLE = "account,tier,seats,owner\nNorthwind,Gold,140,Priya Raman\nContoso,Silver,35,Leo Brandt\n"
FORMATS = {
    "objects": json.dumps(ACCOUNTS),
    "nested objects": json.dumps({"page": {"accounts": ACCOUNTS}}),
    "keyed objects": json.dumps({row["account"]: row for row in ACCOUNTS}),
    "keys alone": json.dumps(
        {row["account"]: {k: row[k] for k in ("tier", "seats", "owner")} for row in ACCOUNTS}
    ),
    "lists in objects": json.dumps(
        [{"name": row["account"], "plans": [{"tier": row["tier"], "seats": row["seats"]}]}
         for row in ACCOUNTS]
    ),
    "csv": TABLE,
    "markdown table": "\n".join(
        f"| {line.replace(',', ' | ')} |" for line in (*TABLE.split()[:1], "---,---,---,---",
        *TABLE.strip().split("\n")[1:])
    ),
    "yaml": "Northwind:\n  tier: Gold\n  seats: 140\nContoso:\n  tier: Silver\n  seats: 35\n",
    "yaml list": "accounts:\n- account: Northwind\n  tier: Gold\n  seats: 140\n"
    "- account: Contoso\n  tier: Silver\n  seats: 35\n",
    "sections": "## Northwind\n\ntier: Gold\nseats: 140\n\n## Contoso\n\ntier: Silver\nseats: 35\n",
    "blocks": "Northwind:\ntier: Gold\nseats: 140\n\nContoso:\ntier: Silver\nseats: 35\n",
}  # fmt: skip


def output(stated: object, **more: object) -> Source:
    """A tool's output, read as the importers read it."""
    text = stated if isinstance(stated, str) else json.dumps(stated)
    return readable(a_source(text, **more))  # type: ignore[arg-type]


def checks(claim: str, stated: object, **more: object) -> tuple[Check, ...]:
    """All checks of a claim against one output."""
    return check_claim(a_claim(claim), read_trace_facts(a_trace(None, output(stated, **more))))


def is_whole(claim: str, stated: object, **more: object) -> bool:
    """Whether the claim is told to be stated whole."""
    return any(check.check == WHOLE for check in checks(claim, stated, **more))


def supports(claim: str, stated: object) -> bool:
    """Whether the value check supports every value of the claim."""
    found = [check for check in checks(claim, stated) if check.check == "value"]
    return bool(found) and all(check.outcome is Outcome.SUPPORTS for check in found)


@pytest.mark.parametrize("form", FORMATS)
def test_a_value_is_of_the_record_that_holds_it_in_every_format(form: str) -> None:
    stated = FORMATS[form]

    for one, other, seats in (("Northwind", "Contoso", 140), ("Contoso", "Northwind", 35)):
        assert is_whole(f"{one} has {seats} seats.", stated)
        assert supports(f"{one} has {seats} seats.", stated)
        assert not is_whole(f"{other} has {seats} seats.", stated)
        assert not supports(f"{other} has {seats} seats.", stated)


@pytest.mark.parametrize(
    ("stated", "right", "wrong"),
    [
        (PATIENTS, "Ines Park's potassium is 3.1 mmol/L.", "Ines Park's potassium is 5.6 mmol/L."),
        (PATIENTS, "Ole Berg's sodium is 128 mmol/L.", "Ole Berg's sodium is 140 mmol/L."),
        (
            [dict(reversed(row.items())) for row in PATIENTS],  # whose it is stands last
            "Ole Berg's sodium is 128 mmol/L.",
            "Ines Park's sodium is 128 mmol/L.",
        ),
        (
            [{"patient": "Ines Park", "sodium": "140 mmol/L"}, PATIENTS[1]],  # hers is not there
            "Ole Berg's potassium is 5.6 mmol/L.",
            "Ines Park's potassium is 5.6 mmol/L.",
        ),
        (INVOICES, "INV-1's amount is EUR 100.00.", "INV-1's amount is EUR 250.00."),
        (STAGES, "The timeout in production is 60 seconds.", "The timeout in production is 30 seconds."),
        (STAGES, "The timeout in staging is 30 seconds.", "The timeout in staging is 60 seconds."),
    ],
)  # fmt: skip
def test_only_what_the_named_record_says_is_stated_whole(
    stated: object, right: str, wrong: str
) -> None:
    assert is_whole(right, stated)
    assert not is_whole(wrong, stated)


def test_a_call_that_asked_for_both_does_not_make_one_record_answer_for_the_other() -> None:
    asked = '{"patients": ["Ines Park", "Ole Berg"]}'

    assert is_whole("Ole Berg's potassium is 5.6 mmol/L.", PATIENTS, arguments=asked)
    assert not is_whole("Ines Park's potassium is 5.6 mmol/L.", PATIENTS, arguments=asked)


@cases
def test_each_of_several_values_is_of_the_record_named_beside_it(claim: str, right: bool) -> None:
    assert supports(claim, STAGES) is right
    assert supports(claim, "staging:\n  replicas: 2\nproduction:\n  replicas: 5\n") is right


@pytest.mark.parametrize(
    "claim", ["There are 140 seats.", "The potassium is 5.6 mmol/L.", "One account has 35 seats."]
)
def test_where_a_claim_names_no_record_every_one_may_support_it(claim: str) -> None:
    assert supports(claim, PATIENTS if "potassium" in claim else ACCOUNTS)


def test_a_line_stands_under_its_headings_keys_and_list_item() -> None:
    text = "# A\n\n## B\nkey:\n  inner: 1\n- one: 2\n  two: 3\nlast: 4\n# C\nend: 5\n"
    over = {
        word: enclosed(text).at(text.index(word)) for word in ("inner", "one", "two", "last", "end")
    }

    assert over["inner"] == ("A", "B", "key")
    assert over["one"] == over["two"] != over["last"]
    assert over["last"] == ("A", "B")
    assert over["end"] == ("C",)
