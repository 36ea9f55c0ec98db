"""The audits of citations: where what answers cite leads, and whether that says it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import Files, Format, JsonPath
from cli.output import BAD_INPUT, GATE_BLOCKED, counted, require, say, tell, tell_skipped

if TYPE_CHECKING:
    from core.citations.claim_stages import CheckedClaim, Stages
    from core.citations.evidence_map import EvidenceObject
    from core.records import CitationFinding, Source, Trace

FailOn = Annotated[
    str | None,
    typer.Option("--fail-on", help="With 'block', exit 1 when anything that was audited blocks."),
]


def audit_citations(
    files: Files,
    format: Format = "auto",
    fail_on: FailOn = None,
    json_path: JsonPath = None,
    claims: Annotated[
        bool,
        typer.Option(
            "--claims",
            help="Also each claim by what it cites: how sure it looks, supported, partial, unsupported, "
            "contradicted or nei, and whether its citation is kept, replaced or removed.",
        ),
    ] = False,
    turned: Annotated[
        list[str] | None,
        typer.Option(
            "--turn",
            help="With --claims, a stage to turn over: preselection, confidence, correction, numeric, "
            "abstention, nei (these are on), retrieval, alternates; may be given again.",
        ),
    ] = None,
    names: Annotated[
        str,
        typer.Option(
            "--names",
            help="What names alone prove in the audit of words: strict, hybrid, drop, proximity.",
        ),
    ] = "proximity",
    near: Annotated[
        int, typer.Option("--near", help="By proximity: how many names must stand together.")
    ] = 3,
    window: Annotated[
        int, typer.Option("--window", help="By proximity: within how many characters.")
    ] = 300,
) -> None:
    """Resolve what every answer cites against its captured run, and audit its words against it.

    Marks with their list, superscripts, footnotes, PMIDs, DOIs, trials, links, paths, titles,
    author and year: says it, says something else, resolves to nothing, or cannot be seen here.
    """
    from core.capture.reading import read_traces
    from core.citations.answer import audit_citations as audit
    from core.citations.lexical import EntityPolicy, audit_lexically
    from core.citations.report import citations_document
    from core.codec import plain
    from core.records import Trace
    from core.workflows.cited_claims import assembled, claim_checker

    check_fail_on(fail_on)
    require(*files)
    if names not in {one.value for one in EntityPolicy} or near < 1 or window < 1:
        raise typer.BadParameter(
            "--names strict, hybrid, drop or proximity; --near, --window from 1"
        )
    policy = EntityPolicy(names)
    check = claim_checker(_stages(turned or ())) if claims else None
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
        words = audit_lexically(
            item.answer or "", evidence, entity_policy=policy, near=near, window=window
        )
        document = citations_document(item, found, words)
        answers.append(document)
        lines += told(item, found)
        if check is not None:
            checked = check(item)
            whole = assembled(checked)
            document |= {"claims": plain(checked), "assembled": plain(whole)}
            lines += [*map(_claim_line, checked), *whole.text.splitlines(), whole.summary]
    blocked = sum(answer["decision"] == "block" for answer in answers)
    tell_skipped(errors[:20], len(errors))
    lines.append(f"{counted(len(answers), 'answer')}, {blocked} with a citation that blocks")
    tell({"answers": answers, "errors": errors}, lines, json_path)
    if blocked and fail_on == "block":
        raise SystemExit(GATE_BLOCKED)


def _stages(turned: Sequence[str]) -> Stages:
    """The stages of seed 001, some turned over."""
    from core.citations.claim_stages import Stages

    stages = Stages()
    for name in turned:
        if name not in Stages.__dataclass_fields__:
            known = ", ".join(Stages.__dataclass_fields__)
            raise typer.BadParameter(f"expected {known}, found {name}", param_hint="--turn")
        stages = replace(stages, **{name: not getattr(Stages(), name)})
    return stages


def _claim_line(one: CheckedClaim) -> str:
    better = f" by {one.better.source_id}: {one.better.quote[:80]!r}" if one.better else ""
    across = f" (an inference from {' and '.join(s.source_id for s in one.across)})"
    said = f"{one.reason}{across if one.across else ''}"
    return f"  {one.verdict.value:<12} {one.action.value}{better} | {one.text[:80]}: {said}"


def check_fail_on(fail_on: str | None) -> None:
    """Refuse any --fail-on but ``block``."""
    if fail_on not in (None, "block"):
        raise typer.BadParameter(f"expected block, found {fail_on}", param_hint="--fail-on")


_LARGEST_FILE = 32 * 1024 * 1024
_SHOW = ("git", "show", "--no-ext-diff", "--no-textconv")


def audit_envelope(
    envelope: Annotated[Path, typer.Argument(help="The envelope: {claims: […], unverified: […]}.")],
    root: Annotated[
        Path | None, typer.Option("--root", help="Where file: and git: sources are looked up.")
    ] = None,
    trace: Annotated[
        Path | None, typer.Option("--trace", help="The captured run that the envelope is about.")
    ] = None,
    asked: Annotated[
        list[str] | None,
        typer.Option("--asked", help="A point that it had to speak to; may be given again."),
    ] = None,
    fail_on: FailOn = None,
    json_path: JsonPath = None,
) -> None:
    """Check an envelope: the source exists, its excerpt stands there, the claim is no wider, it resolves.

    Files and commits are looked up under --root, everything else in the captured run; what neither
    holds is not resolvable here, and is never a pass.
    """
    from core.citations.envelope import audit_envelope as audit
    from core.citations.envelope import read_envelope
    from core.citations.report import envelope_audit_document
    from core.citations.resolvers import Stores, resolver_of

    check_fail_on(fail_on)
    require(envelope, root, trace)
    read = read_envelope(envelope.read_bytes())
    stores = Stores(file=_files(root), commit=_commits(root)) if root else Stores()
    found = audit(read, resolver_of(sources_of(trace), stores), asked=asked or ())
    lines = []
    for one in found.claims:
        named = f" ({', '.join(one.anti_patterns)})" if one.anti_patterns else ""
        lines.append(f"{'ok    ' if one.passes else 'NOT OK'} {one.claim.claim}{named}")
        lines += [
            f"       {layer.layer.value}: {layer.outcome.value}, {layer.reason}"
            for layer in one.layers
            if layer.outcome.value != "passes"
        ]
    lines += [f"unverified: {text}" for text in found.unverified]
    lines += [f"DROPPED: {text}" for text in found.dropped]
    lines.append(
        f"{counted(len(found.claims), 'claim')}, "
        f"{sum(one.passes for one in found.claims)} pass every layer"
    )
    tell(envelope_audit_document(found), lines, json_path)
    if fail_on == "block" and not found.passes:
        raise SystemExit(GATE_BLOCKED)


def sources_of(trace: Path | None) -> tuple[Source, ...]:
    """The sources of all traces in a file."""
    if trace is None:
        return ()
    from core.capture.reading import read_traces
    from core.records import Trace

    found: list[Source] = []
    for item in read_traces([trace]):
        if isinstance(item, Trace):
            found += item.sources
        else:
            say(str(item))
    if not found:
        raise SystemExit(BAD_INPUT)
    return tuple(found)


def _files(root: Path) -> Callable[[str], str | None]:
    """Texts of files under ``root``; a path that leads out of it names nothing."""
    base = root.resolve()

    def file(path: str) -> str | None:
        target = (base / path).resolve()
        inside = target.is_relative_to(base) and target.is_file()
        if not inside or target.stat().st_size > _LARGEST_FILE:
            return None
        return target.read_text("utf-8", errors="replace")

    return file


def _commits(root: Path) -> Callable[[str], str | None]:
    """A commit's message and changes by its hexadecimal name, from the repository at ``root``."""

    def commit(sha: str) -> str | None:
        try:
            shown = subprocess.run(
                [*_SHOW, f"{sha}^{{commit}}"],
                cwd=root,
                capture_output=True,
                timeout=30,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return shown.stdout.decode("utf-8", errors="replace") if shown.returncode == 0 else None

    return commit


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
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A threshold, as citation_coverage=0.5 or off=TITLE_MISMATCH; again for more.",
        ),
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
    from core.citations.rules import policy_of

    check_fail_on(fail_on)
    if form not in ("auto", "json", "pointer_lines"):
        raise typer.BadParameter(f"expected auto, json or pointer_lines, found {form}")
    if (evidence is None) == (trace is None):
        raise typer.BadParameter("expected --evidence or --trace, one of them")
    require(answer, evidence, trace)
    offered = _offered(evidence) if evidence else evidence_of_sources(sources_of(trace))
    raw = answer.read_bytes()
    try:
        text: str | bytes = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw
    try:
        policy = policy_of(settings or ())
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from error
    audit = verify_lattice(text, offered, form=form, question=question, policy=policy)
    lines = [f"{one.status:<24} {one.text}" for one in audit.claims]
    for violation in audit.violations:
        whose = "answer" if violation.claim_index is None else f"claim {violation.claim_index}"
        lines.append(f"  {violation.kind.value} ({whose}): {violation.reason}")
    lines += [f"  repaired: {fixup}" for fixup in audit.fixups]
    pairs = counted(audit.pairs, "pair")
    lines.append(f"{audit.mode.value}: {audit.verified_pairs} of {pairs} linked")
    tell(lattice_document(audit), lines, json_path)
    if fail_on == "block" and audit.mode is not AuditMode.STRICT:
        raise SystemExit(GATE_BLOCKED)


def _offered(file: Path) -> tuple[EvidenceObject, ...]:
    from core.citations.evidence_map import read_evidence
    from core.errors import UnreadableFile

    try:
        items = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise UnreadableFile(f"not JSON: {error}", file=str(file)) from error
    return read_evidence(items.get("evidence") if isinstance(items, dict) else items)
