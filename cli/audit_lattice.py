"""audit-lattice: whether the claims of a lattice are linked to the evidence that they point at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.audit_citations import FailOn, check_fail_on
from cli.audit_envelope import sources_of
from cli.options import JsonPath
from cli.output import GATE_BLOCKED, counted, print_lines, require, write_json

if TYPE_CHECKING:
    from core.citations.evidence_map import EvidenceObject

EXAMPLE = "Example: provenanceguard audit-lattice answer.txt --evidence evidence.json"


def audit_lattice(
    answer: Annotated[Path, typer.Argument(help="The answer: pointer lines or JSON claims.")],
    evidence: Annotated[
        Path | None,
        typer.Option(
            "--evidence",
            help="A JSON list of {pointer, span, source_root, title, source_role}.",
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", help="Instead: a captured run, whose sources are E1, E2 …"),
    ] = None,
    form: Annotated[
        str, typer.Option("--form", help="pointer_lines, json, or auto to tell from the text.")
    ] = "auto",
    question: Annotated[
        str | None, typer.Option("--question", help="What was asked; some rules need it.")
    ] = None,
    fail_on: FailOn = None,
    json_path: JsonPath = None,
) -> None:
    """Check every claim of an answer that points at evidence: [E1] lines, or JSON with evidence_ids.

    STRICT when every pair is linked and no rule is broken, HYBRID when some are, else UNGROUNDED.
    """
    from core.citations.evidence_map import evidence_of_sources
    from core.citations.lattice import verify_lattice
    from core.citations.lexical import AuditMode
    from core.citations.report import lattice_document

    check_fail_on(fail_on)
    if form not in ("auto", "json", "pointer_lines"):
        raise typer.BadParameter(f"expected auto, json or pointer_lines, found {form}")
    if (evidence is None) == (trace is None):
        raise typer.BadParameter("expected --evidence or --trace, one of them")
    require([path for path in (answer, evidence, trace) if path is not None])
    offered = _read(evidence) if evidence else evidence_of_sources(sources_of(trace))
    raw = answer.read_bytes()
    try:
        text: str | bytes = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw
    audit = verify_lattice(text, offered, form=form, question=question)
    write_json(json_path, lattice_document(audit))
    lines = [f"{one.status:<24} {one.text}" for one in audit.claims]
    for violation in audit.violations:
        whose = "answer" if violation.claim_index is None else f"claim {violation.claim_index}"
        lines.append(f"  {violation.kind.value} ({whose}): {violation.reason}")
    lines += [f"  repaired: {fixup}" for fixup in audit.fixups]
    pairs = counted(audit.pairs, "pair")
    lines.append(f"{audit.mode.value}: {audit.verified_pairs} of {pairs} linked")
    print_lines(lines, json_path)
    if fail_on == "block" and audit.mode is not AuditMode.STRICT:
        raise SystemExit(GATE_BLOCKED)


def _read(file: Path) -> tuple[EvidenceObject, ...]:
    from core.citations.evidence_map import read_evidence
    from core.errors import UnreadableFile

    try:
        items = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise UnreadableFile(f"not JSON: {error}", file=str(file)) from error
    return read_evidence(items.get("evidence") if isinstance(items, dict) else items)
