"""Charts, papers and other outputs written one by one, with true and wrong statements, as claim packets.

    python -m training.written --out written.jsonl [--only ha la …]

A file of ``pairs/charts`` is one author's (``CHARTS.md``): a chart a line, as a tool returns
it, with its claims. A file of ``pairs/literature`` (``LITERATURE.md``) has two or three
abstracts on one topic a line, one of ``pairs/outputs`` (``OUTPUTS.md``) what one to five calls
of an agent's run were asked and returned, one of ``pairs/consults`` (``CONSULTS.md``) a
patient's chart with what was found about the matter. Half of the claims are wrong: about a chart in a
way that could hurt somebody, about the others in the ways in which models go wrong.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.texts import text_folder

FOLDER = text_folder() / "pairs"
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
    for path in sorted(FOLDER.glob("*/*.jsonl")):
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


def labelled_row(
    claim_id: str,
    trace_id: str,
    claim: str,
    sources: Sequence[Mapping[str, str]],
    *,
    good: bool,
    gold: str,
    slices: Sequence[str],
    category: str = "clinical",
) -> dict[str, object]:
    """A statement that its source bears out or contradicts, as a row of a claim packet."""
    return {
        "claim_id": claim_id,
        "trace_id": trace_id,
        "claim": claim,
        "stated_attribution": None,
        "category": category,
        "sources": list(sources),
        "label": "supported" if good else "contradicted",
        "relation": "entailment" if good else "contradiction",
        "gold_source_ids": [gold],
        "gold_attribution": None,
        "slices": list(slices),
    }


def packet_rows(group: Group) -> Iterator[dict[str, object]]:
    """Yield the group's statements as rows of a claim packet (formats.md, section 2)."""
    sources = [
        {"source_id": f"{one.tool}#{place}", "tool_name": one.tool, "text": one.text}
        | ({} if one.arguments is None else {"arguments": one.arguments})
        for place, one in enumerate(group.sources)
    ]
    for number, one in enumerate(group.statements, 1):
        yield labelled_row(
            f"{group.name}::{number:02}",
            group.name,
            one.claim,
            sources,
            good=one.good,
            gold=sources[one.source]["source_id"],
            slices=[re.sub(r"\W+", "_", one.kind.lower()), group.author],
            category=CATEGORIES.get(group.folder, group.folder),
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the packet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", help="of these authors alone")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    rows = [row for group in written(given.only) for row in packet_rows(group)]
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    given.out.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
