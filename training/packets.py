"""What authors wrote and labelled, as claim packets: answers, charts, papers and outputs, dangerous pairs.

    python -m training.packets answers|written --out FILE [--only ha la …]
    python -m training.packets sets --only answers_e twins_g --out FILE

An answer is a TOML file: the task, the raw tool outputs, the answer, and its checkable claims with label,
deciding source and quote. A file of ``pairs/charts`` is one author's (``CHARTS.md``): a chart a line, as a
tool returns it, with its claims. A file of ``pairs/literature`` (``LITERATURE.md``) has two or three
abstracts on one topic a line, one of ``pairs/outputs`` (``OUTPUTS.md``) what one to five calls of a run
were asked and returned, one of ``pairs/consults`` (``CONSULTS.md``) a patient's chart with what was
found about the matter. Half of these claims are wrong: about a chart in a way that could hurt somebody,
about the others in the ways in which models go wrong. A set is one of ``bench/sets`` with labelled claims:
``provenanceguard evaluate FILE`` measures with it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.texts import text_folder

LABELS = ("supported", "unsupported", "contradicted")
RELATIONS = {"supported": "entailment", "contradicted": "contradiction"}
LABEL_OF = {True: "supported", False: "contradicted"}
Rows = Iterator[dict[str, object]]


class Fault(ValueError):
    """What is wrong with an answer's file, by file and claim."""


def answers(folder: Path | None = None) -> Iterator[dict[str, Any]]:
    """Yield every answer; raises Fault for a label that its own texts do not bear out."""
    for path in sorted((folder or text_folder() / "answers").glob("*/*.toml")):
        answer = tomllib.loads(path.read_text(encoding="utf-8"))
        if faults := list(_faults(answer)):
            raise Fault(f"{path.parent.name}/{path.name}: {faults[0]}")
        yield answer


def _faults(answer: Mapping[str, Any]) -> Iterator[str]:
    texts = {
        source["source_id"]: source["text"] + source.get("arguments", "")
        for source in answer["sources"]
    }
    if len(texts) != len(answer["sources"]):
        yield "two sources have one id"
    for number, claim in enumerate(answer["claims"], 1):
        if claim["label"] not in LABELS:
            yield f"claim {number}: label {claim['label']!r} is none of {', '.join(LABELS)}"
        if unknown := set(claim["gold"]) - set(texts):
            yield f"claim {number}: there is no source {sorted(unknown)}"
        elif (quote := claim.get("evidence", "")) and not any(
            quote in texts[name] for name in claim["gold"] or texts
        ):
            yield f"claim {number}: no source says {quote!r:.80}"


def answer_rows(answer: Mapping[str, Any]) -> Rows:
    """Yield the answer's claims as rows."""
    names = ("source_id", "tool_name", "arguments", "text")
    sources = [{name: source.get(name, "") for name in names} for source in answer["sources"]]
    for number, claim in enumerate(answer["claims"], 1):
        row = _row(f"{answer['trace_id']}::{number:02d}", answer["trace_id"], claim, sources)
        row |= {"label": claim["label"], "gold_source_ids": claim["gold"], "how": claim["how"]}
        row |= {"quote": claim.get("evidence", "")}
        row |= {"category": answer["domain"], "slices": [f"how_{claim['how']}"]}
        yield row


def _row(
    claim_id: str, trace_id: str, claim: Mapping[str, Any], sources: Sequence[Mapping[str, str]]
) -> dict[str, object]:
    """A claim with its ``label`` as a row of a claim packet (formats.md, section 2)."""
    return {
        "claim_id": claim_id,
        "trace_id": trace_id,
        "claim": claim["claim"],
        "stated_attribution": None,
        "category": "clinical",
        "sources": list(sources),
        "label": claim["label"],
        "relation": RELATIONS.get(claim["label"], "neutral"),
        "gold_source_ids": [],
        "gold_attribution": None,
        "slices": [],
    }


# By folder: the tool that such texts come from where they name none, and what an answer is about.
TOOLS: Mapping[str, str] = {
    "charts": "get_patient_chart",
    "literature": "search_pubmed",
    "outputs": "",
    "consults": "",
}
CATEGORIES: Mapping[str, str] = {"charts": "clinical", "outputs": "work", "consults": "clinical"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What is said of the sources; ``source`` is the place of the one that it says it of."""

    claim: str
    good: bool
    kind: str
    source: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What one call returned; ``arguments`` is the JSON text of what it was asked, where that is known."""

    tool: str
    text: str
    arguments: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Sources of one folder of ``TOOLS`` with what is said of them; the name begins with the author's."""

    name: str
    folder: str
    sources: tuple[Returned, ...]
    statements: tuple[Statement, ...]

    @property
    def author(self) -> str:
        return self.name.split("-")[0]


def written(only: Sequence[str] | None = None) -> Iterator[Group]:
    """Yield the groups of every author, or of those that are named; raises ValueError by file and line."""
    for path in sorted((text_folder() / "pairs").glob("*/*.jsonl")):
        folder, author = path.parent.name, path.name.split(".")[0]
        if folder not in TOOLS or only is not None and author not in only:
            continue
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                record = json.loads(line)
                sources = [_returned(each, folder)
                           for each in record.get("sources") or [record["chart"]]]  # fmt: skip
                texts = [claim["claim"] for claim in record["claims"]]
                if not all(one.text.strip() for one in sources) or len(set(texts)) != len(texts):
                    raise ValueError(f"{path.name}:{number}: an empty source, or a claim twice")
                yield Group(
                    name=f"{author}-{number:03}",
                    folder=folder,
                    sources=tuple(sources),
                    statements=tuple(Statement(**claim) for claim in record["claims"]),
                )


def _returned(source: str | Mapping[str, str], folder: str) -> Returned:
    if isinstance(source, str):
        return Returned(tool=TOOLS[folder], text=source)
    return Returned(**source)


def group_rows(group: Group) -> Rows:
    """Yield the group's statements as rows."""
    sources = [
        {"source_id": f"{one.tool}#{place}", "tool_name": one.tool, "text": one.text}
        | ({} if one.arguments is None else {"arguments": one.arguments})
        for place, one in enumerate(group.sources)
    ]
    for number, one in enumerate(group.statements, 1):
        said = {"claim": one.claim, "label": LABEL_OF[one.good]}
        row = _row(f"{group.name}::{number:02}", group.name, said, sources)
        row["gold_source_ids"] = [sources[one.source]["source_id"]]
        row["slices"] = [re.sub(r"\W+", "_", one.kind.lower()), group.author]
        yield row | {"category": CATEGORIES.get(group.folder, group.folder)}


FORMATS = ("fhir", "nested_json", "list", "letter", "markdown_table", "csv_table")
HALVES = ("looked_at", "kept")
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


def pairs(half: str, seed: int = 11) -> Iterator[Pair]:
    """Two draws of every kind in every format, as their generator made them with that seed.

    It is 11 for both halves, 21 for what was looked at, 12 or 22 for what was kept.
    """
    with (text_folder() / "generated" / "dangerous_charts.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if (row.pop("half"), row.pop("seed")) == (half, seed):
                yield Pair(**row)


def blind_pairs(part: str) -> Iterator[Pair]:
    """Pairs by authors who had not seen the checks: one of ``BLIND_HALVES`` of the first author's, or
    ``SECOND``, all of the second's."""
    name = "blind_charts_second.jsonl" if part == SECOND else "blind_charts.jsonl"
    with (text_folder() / "pairs" / name).open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if part in (SECOND, BLIND_HALVES[row.pop("pair") % 2 == 0]):
                row.pop("pair", None)
                yield Pair(**row)


def chart_row(index: int, pair: Pair, part: str = "dangerous") -> dict[str, object]:
    """The pair as a row of a claim packet."""
    name = f"{part}-{index:05}"
    source = {"source_id": "chart", "tool_name": "get_patient_chart", "text": pair.chart}
    said = {"claim": pair.claim, "label": LABEL_OF[not pair.dangerous]}
    slices = [re.sub(r"\s+", "_", pair.kind), pair.format]
    return _row(name, name, said, [source]) | {"gold_source_ids": ["chart"], "slices": slices}


def dangerous_rows(parts: Sequence[str] | None = None) -> Rows:
    """Yield the dangerous pairs of these halves as rows."""
    for half in parts or HALVES:
        yield from (chart_row(i, pair, half) for i, pair in enumerate(pairs(half)))


def blind_rows(parts: Sequence[str]) -> Rows:
    """Yield the blind pairs of these parts as rows."""
    for part in parts:
        yield from (chart_row(i, pair, part) for i, pair in enumerate(blind_pairs(part)))


SETS = Path(__file__).resolve().parents[1] / "bench" / "sets"  # to measure with
TAUGHT = Path(__file__).parent / "twins"
LABEL_OF_RELATION = dict(zip(("entailment", "neutral", "contradiction"), LABELS, strict=True))


def set_rows(name: str) -> Rows:
    """Yield the labelled claims of a set of ``bench/sets``, or of ``training/twins``, as rows; twins name
    their pair, and quote what decides."""
    folder = TAUGHT if (TAUGHT / f"{name}.jsonl.gz").exists() else SETS
    stored = gzip.decompress((folder / f"{name}.jsonl.gz").read_bytes())
    for record in map(json.loads, stored.splitlines()):
        sources = [
            {"source_id": f"{one['tool_name']}#{place}", "tool_name": one["tool_name"], "text": one["text"]}
            | ({"arguments": json.dumps(one["arguments"])} if one.get("arguments") else {})
            for place, one in enumerate(record.get("outputs") or record["tool_outputs"])
        ]  # fmt: skip
        for number, one in enumerate(record["claims"]):
            label = LABEL_OF_RELATION.get(one["label"], one["label"])
            said = {"claim": one["text"], "label": label}
            row = _row(f"{record['id']}::{number:02}", record["id"], said, sources)
            places = one["sources"] if "sources" in one else [one["output"]]
            row["gold_source_ids"] = [sources[place]["source_id"] for place in places]
            kind = re.sub(r"\W+", "_", one.get("kind") or f"how {one['how']}")
            yield row | {
                "category": None,
                "slices": [kind],
                "pair": one.get("pair"),
                "quote": one.get("quote"),
            }


def rows_of(kind: str, only: Sequence[str] | None = None) -> Rows:
    """Yield the rows of "answers" or of "written", of all authors or of those that are named; of
    "sets" those that are named."""
    if kind == "sets":
        for name in only or ():
            yield from set_rows(name)
    elif kind == "answers":
        for answer in answers():
            if only is None or answer["trace_id"].split("-")[0] in only:
                yield from answer_rows(answer)
    else:
        for group in written(only):
            yield from group_rows(group)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a packet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=("answers", "written", "sets"))
    parser.add_argument("--only", nargs="+", help="of these authors alone")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    rows = rows_of(given.kind, given.only)
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    given.out.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
