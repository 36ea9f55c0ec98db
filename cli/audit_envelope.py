"""audit-envelope: whether each claim of a citation envelope passes its four layers."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.audit_citations import FailOn, check_fail_on
from cli.options import JsonPath
from cli.output import BAD_INPUT, GATE_BLOCKED, counted, print_lines, require, say, write_json

if TYPE_CHECKING:
    from core.records import Source

EXAMPLE = "Example: provenanceguard audit-envelope envelope.json --root . --trace traces.jsonl"
_LARGEST_FILE = 32 * 1024 * 1024


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
    require([path for path in (envelope, root, trace) if path is not None])
    read = read_envelope(envelope.read_bytes())
    stores = Stores(file=_files(root), commit=_commits(root)) if root else Stores()
    found = audit(read, resolver_of(sources_of(trace), stores), asked=asked or ())
    write_json(json_path, envelope_audit_document(found))
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
    print_lines(lines, json_path)
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
                [
                    "git",
                    "-C",
                    str(root),
                    "show",
                    "--no-ext-diff",
                    "--no-textconv",
                    f"{sha}^{{commit}}",
                ],
                capture_output=True,
                timeout=30,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return shown.stdout.decode("utf-8", errors="replace") if shown.returncode == 0 else None

    return commit
