"""audit-citations: where everything that answers cite leads, and whether that says it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import Files, Format, JsonPath
from cli.output import GATE_BLOCKED, counted, print_lines, require, tell_skipped, write_json

if TYPE_CHECKING:
    from core.citations.claim_stages import CheckedClaim
    from core.records import CitationFinding, Trace

EXAMPLE = "Example: provenanceguard audit-citations traces.jsonl --json citations.json"

FailOn = Annotated[
    str | None,
    typer.Option("--fail-on", help="With 'block', exit 1 when anything that was audited blocks."),
]


Claims = Annotated[
    bool,
    typer.Option(
        "--claims",
        help="Also each claim by what it cites: how sure it looks, supported, partial, unsupported, "
        "contradicted or nei, and whether its citation is kept, replaced or removed.",
    ),
]
Turned = Annotated[
    list[str] | None,
    typer.Option(
        "--turn",
        help="With --claims, a stage to turn over: preselection, confidence, correction, numeric, "
        "abstention, nei (these are on), retrieval, alternates; may be given again.",
    ),
]


def audit_citations(
    files: Files,
    format: Format = "auto",
    fail_on: FailOn = None,
    json_path: JsonPath = None,
    claims: Claims = False,
    turned: Turned = None,
) -> None:
    """Resolve what every answer cites against its captured run, and audit its words against it.

    Marks with their list, superscripts, footnotes, PMIDs, DOIs, trials, links, paths, titles,
    author and year: says it, says something else, resolves to nothing, or cannot be seen here.
    """
    from core.capture.reading import read_traces
    from core.citations.answer import audit_citations as audit
    from core.citations.lexical import audit_lexically
    from core.citations.report import citations_document
    from core.codec import plain
    from core.records import Trace

    check_fail_on(fail_on)
    require(files)
    check = _checker(turned or ()) if claims else None
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
        document = citations_document(item, found, audit_lexically(item.answer or "", evidence))
        answers.append(document)
        lines += told(item, found)
        if check is not None:
            checked = check(item)
            document["claims"] = plain(checked)
            lines += map(_claim_line, checked)
    blocked = sum(answer["decision"] == "block" for answer in answers)
    tell_skipped(errors[:20], len(errors))
    write_json(json_path, {"answers": answers, "errors": errors})
    lines.append(f"{counted(len(answers), 'answer')}, {blocked} with a citation that blocks")
    print_lines(lines, json_path)
    if blocked and fail_on == "block":
        raise SystemExit(GATE_BLOCKED)


def _checker(turned: Sequence[str]) -> Callable[[Trace], tuple[CheckedClaim, ...]]:
    """Checks the claims of a trace with the bundled NLI model, some stages turned over."""
    from core.citations.claim_stages import Stages, check_claims, cited_span
    from core.citations.claims import citations_by_claim
    from core.config import Config
    from core.decomposition.claims import decompose
    from core.models.loading import load_pair_reader
    from core.records import ClaimType, Probabilities

    stages = Stages()
    for name in turned:
        if name not in Stages.__dataclass_fields__:
            known = ", ".join(Stages.__dataclass_fields__)
            raise typer.BadParameter(f"expected {known}, found {name}", param_hint="--turn")
        stages = replace(stages, **{name: not getattr(Stages(), name)})
    config = Config()
    model = load_pair_reader(max_tokens=config.nli_max_tokens)

    def judge(claim: str, quote: str) -> Probabilities:
        scores = model.read([(quote, claim)])[0]
        unread = Probabilities(entailment=0.0, neutral=1.0, contradiction=0.0)
        return unread if scores is None else scores.probabilities

    def check(trace: Trace) -> tuple[CheckedClaim, ...]:
        claims = [c for c in decompose(trace, config) if c.claim_type is ClaimType.FACTUAL]
        cited = citations_by_claim(trace, claims)
        return check_claims(
            [(c.text, cited_span(c.text, cited[c.claim_id], trace.sources)) for c in claims],
            trace.sources,
            judge,
            stages=stages,
        )

    return check


def _claim_line(one: CheckedClaim) -> str:
    better = f" by {one.better.source_id}: {one.better.quote[:80]!r}" if one.better else ""
    return f"  {one.verdict.value:<12} {one.action.value}{better} | {one.text[:80]}: {one.reason}"


def check_fail_on(fail_on: str | None) -> None:
    """Refuse any --fail-on but ``block``."""
    if fail_on not in (None, "block"):
        raise typer.BadParameter(f"expected block, found {fail_on}", param_hint="--fail-on")
