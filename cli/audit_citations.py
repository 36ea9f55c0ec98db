"""audit-citations: where everything that answers cite leads, and whether that says it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from cli.options import Files, Format, JsonPath
from cli.output import GATE_BLOCKED, counted, print_lines, require, tell_skipped, write_json

EXAMPLE = "Example: provenanceguard audit-citations traces.jsonl --json citations.json"

FailOn = Annotated[
    str | None,
    typer.Option("--fail-on", help="With 'block', exit 1 when anything that was audited blocks."),
]


def audit_citations(
    files: Files, format: Format = "auto", fail_on: FailOn = None, json_path: JsonPath = None
) -> None:
    """Resolve what every answer cites against its captured run, and audit its words against it.

    Marks with their list, superscripts, footnotes, PMIDs, DOIs, trials, links, paths, titles,
    author and year: says it, says something else, resolves to nothing, or cannot be seen here.
    """
    from core.capture.reading import read_traces
    from core.citations.answer import audit_citations as audit
    from core.citations.lexical import audit_lexically
    from core.citations.report import citations_document
    from core.records import CitationFinding, Trace

    check_fail_on(fail_on)
    require(files)
    answers, errors = [], []
    lines: list[str] = []

    def told(trace: Trace, found: tuple[CitationFinding, ...]) -> Iterator[str]:
        yield f"{trace.trace_id}: {counted(len(found), 'citation')}"
        for one in found:
            yield f"  {one.outcome.value:<20} {one.text[:60]}: {one.reason}"

    for item in read_traces(files, format):
        if not isinstance(item, Trace):
            errors.append(str(item))
            continue
        found = audit(item)
        evidence = "\n".join(source.text for source in item.sources if source.is_evidence)
        answers.append(
            citations_document(item, found, audit_lexically(item.answer or "", evidence))
        )
        lines += told(item, found)
    blocked = sum(answer["decision"] == "block" for answer in answers)
    tell_skipped(errors[:20], len(errors))
    write_json(json_path, {"answers": answers, "errors": errors})
    lines.append(f"{counted(len(answers), 'answer')}, {blocked} with a citation that blocks")
    print_lines(lines, json_path)
    if blocked and fail_on == "block":
        raise SystemExit(GATE_BLOCKED)


def check_fail_on(fail_on: str | None) -> None:
    """Refuse any --fail-on but ``block``."""
    if fail_on not in (None, "block"):
        raise typer.BadParameter(f"expected block, found {fail_on}", param_hint="--fail-on")
