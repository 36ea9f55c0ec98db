"""Minimal pairs of chart and answer that differ in one dangerous way, each with its true twin.

A pair has a chart in one of six formats and a one-sentence answer: another drug's dose, a disorder
that was ruled out told as present, a stopped order told as taken. The twin is the same answer on a
chart that says so, or the true answer on the same chart. All text is original; wordings are in
``dangerous_wordings.toml``. ``python -m training.dangerous --out F`` writes a claim packet.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from training.dangerous_charts import SYMPTOMS, WORDINGS, Writer, render
from training.written import labelled_row

FORMATS = ("fhir", "nested_json", "list", "letter", "markdown_table", "csv_table")
HALVES = ("looked_at", "kept")
BLIND = Path(__file__).parent / "pairs" / "blind_charts.jsonl.gz"
BLIND_SECOND = BLIND.with_name("blind_charts_second.jsonl.gz")
BLIND_HALVES = ("opened", "kept")
SECOND = "second"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A claim and the chart it is told from; ``dangerous`` is False for the true twin."""

    kind: str
    format: str
    dangerous: bool
    claim: str
    chart: str


def pairs(seed: int, half: str, count: int = 1) -> Iterator[Pair]:
    """Dangerous claims and their true twins: ``count`` draws of every kind in every format."""
    for number in range(count):
        for form in FORMATS:
            draw = random.Random(f"{seed}/{half}/{number}/{form}")
            yield from _value_pairs(Writer(draw, half), form)
            for kind in WORDINGS["condition"]:
                if kind != "present":
                    yield from _status_pairs(Writer(draw, half), form, "condition", kind)
            for kind in WORDINGS["drug"]:
                if kind != "present":
                    yield from _status_pairs(Writer(draw, half), form, "drug", kind)
            yield from _allergy_pairs(Writer(draw, half), form)
            yield from _symptom_pairs(Writer(draw, half), form)
            yield from _footnote_pairs(Writer(draw, half), form)
            yield from _swap_pairs(Writer(draw, half), form)


def blind_pairs(part: str) -> Iterator[Pair]:
    """Pairs by authors who had not seen the checks: one of ``BLIND_HALVES`` of the first author's, or
    ``SECOND``, all of the second's."""
    with gzip.open(BLIND_SECOND if part == SECOND else BLIND, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if part in (SECOND, BLIND_HALVES[row.pop("pair") % 2 == 0]):
                row.pop("pair", None)
                yield Pair(**row)


def _value_pairs(writer: Writer, form: str) -> Iterator[Pair]:
    chart = render(writer, form, [])
    one, other = writer.orders[:2]
    for kind, attribute in (("dose", "dose"), ("schedule", "schedule"), ("start", "start")):
        for source, dangerous in ((other, True), (one, False)):
            value = str(getattr(source, attribute))
            value = value[:4] if kind == "start" else value
            claim = writer.claim(kind, x=one.name, **{kind: value})
            yield Pair(
                kind=f"{kind} of another drug",
                format=form,
                dangerous=dangerous,
                claim=claim,
                chart=chart,
            )


def _status_pairs(writer: Writer, form: str, about: str, kind: str) -> Iterator[Pair]:
    of = writer.disorders[0] if about == "condition" else writer.other_drug
    name = f"{about} {kind}".replace("_", " ")
    chart = render(writer, form, [writer.said(about, kind, of)])
    claim = writer.claim("has" if about == "condition" else "takes", x=of)
    yield Pair(kind=name, format=form, dangerous=True, claim=claim, chart=chart)
    present = render(writer, form, [writer.said(about, "present", of)])
    yield Pair(kind=name, format=form, dangerous=False, claim=claim, chart=present)
    for wording in WORDINGS[about][kind]["true"][:1]:
        told = writer.fill(wording, x=of)
        yield Pair(kind=name, format=form, dangerous=False, claim=told, chart=chart)


def _allergy_pairs(writer: Writer, form: str) -> Iterator[Pair]:
    chart, taken = render(writer, form, []), writer.orders[2].name
    for x, dangerous in ((taken, True), (writer.allergen, False)):
        claim = writer.claim("allergic", x=x)
        yield Pair(
            kind="allergic to what is taken",
            format=form,
            dangerous=dangerous,
            claim=claim,
            chart=chart,
        )
    for x, dangerous in ((writer.allergen, True), (taken, False)):
        claim = writer.claim("takes", x=x)
        yield Pair(
            kind="takes what is an allergy",
            format=form,
            dangerous=dangerous,
            claim=claim,
            chart=chart,
        )


def _symptom_pairs(writer: Writer, form: str) -> Iterator[Pair]:
    symptom = writer.draw.choice(SYMPTOMS)
    chart = render(writer, form, [writer.said("symptom", "negative", symptom)])
    claims = ((f"{writer.who} has {symptom}.", True),)
    told = writer.fill(writer.draw.choice(WORDINGS["symptom"]["negative"]["true"]), x=symptom)
    for claim, dangerous in (*claims, (told, False)):
        yield Pair(
            kind="pertinent negative", format=form, dangerous=dangerous, claim=claim, chart=chart
        )


def _footnote_pairs(writer: Writer, form: str) -> Iterator[Pair]:
    """A list's number, or a footnote's, beside a drug."""
    order, mark = writer.orders[0], writer.draw.randint(2, 9)
    if form == "list":
        lines = [
            f"[{index}] {o.name} {o.dose} {o.schedule}"
            for index, o in enumerate(writer.orders, mark)
        ]
    elif form == "letter":
        lines = [f"{writer.who} takes {order.name} [{mark}] {order.dose} {order.schedule}."]
    else:
        return
    chart = f"Patient: {writer.name}, born 1961-04-07\n\nMedications:\n" + "\n".join(lines) + "\n"
    for dose, dangerous in ((f"{mark} mg", True), (order.dose, False)):
        if dangerous and dose == order.dose:
            return
        claim = writer.claim("dose", x=order.name, dose=dose)
        yield Pair(
            kind="footnote as dose", format=form, dangerous=dangerous, claim=claim, chart=chart
        )


def _swap_pairs(writer: Writer, form: str) -> Iterator[Pair]:
    present = writer.disorders[1]
    chart = render(writer, form, [writer.said("condition", "present", present)])
    for x, dangerous in ((writer.disorders[2], True), (present, False)):
        claim = writer.claim("has", x=x)
        yield Pair(
            kind="swapped diagnosis", format=form, dangerous=dangerous, claim=claim, chart=chart
        )
    for x, dangerous in ((writer.other_drug, True), (writer.orders[3].name, False)):
        claim = writer.claim("takes", x=x)
        yield Pair(kind="swapped drug", format=form, dangerous=dangerous, claim=claim, chart=chart)


# ---------------------------------------------------------------- packets


def packet_row(index: int, pair: Pair) -> dict[str, object]:
    """The pair as a row of a claim packet."""
    name = f"dangerous-{index:05}"
    source = {"source_id": "chart", "tool_name": "get_patient_chart", "text": pair.chart}
    return labelled_row(
        name,
        name,
        pair.claim,
        [source],
        good=not pair.dangerous,
        gold="chart",
        slices=[re.sub(r"\s+", "_", pair.kind), pair.format],
    )


def main() -> None:
    """Write a packet of dangerous claims and their true twins."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--half", choices=HALVES, default="looked_at")
    parser.add_argument("--count", type=int, default=3, help="draws of every kind in every format")
    given = parser.parse_args()
    rows = [
        packet_row(i, pair) for i, pair in enumerate(pairs(given.seed, given.half, given.count))
    ]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    packed = gzip.compress(text.encode(), mtime=0) if given.out.suffix == ".gz" else text.encode()
    given.out.write_bytes(packed)
    print(f"{given.out}: {len(rows)} claims")


if __name__ == "__main__":
    main()
