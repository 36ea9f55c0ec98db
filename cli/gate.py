"""gate: verified traces against a policy, for a build."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.judging import Deciding, Judging, tell_judge, tell_unread
from cli.options import Files, Format, JsonPath
from cli.output import GATE_BLOCKED, Progress, counted, require, tell, write_file, write_json
from core.errors import ConfigError, InputError
from core.site_config import site_config

if TYPE_CHECKING:
    from core.workflows.gate import Finding


def gate(
    files: Files,
    *,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="A TOML file; without one, only allowed answers pass."),
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here.")] = None,
    sarif: Annotated[Path | None, typer.Option("--sarif", help="Write SARIF 2.1.0 here.")] = None,
    otlp: Annotated[
        Path | None,
        typer.Option(
            "--otlp", help="Write gen_ai.evaluation.result events here, an OTLP request a line."
        ),
    ] = None,
    otlp_endpoint: Annotated[
        str | None,
        typer.Option("--otlp-endpoint", help="Send these events to your own OTLP/HTTP receiver."),
    ] = None,
    explanations: Annotated[
        bool,
        typer.Option("--explanations", help="With the reasons in the events: they quote answers."),
    ] = False,
    format: Format = "auto",
    deciding: Deciding,
    judging: Judging,
    json_path: JsonPath = None,
) -> None:
    """Verify traces and hold them against a policy: exit code 0 when it is kept, 1 when not.

    Each claim that stops is printed on one line, with the reason.
    The exit code is 2 when the policy or every trace is unusable, 3 when a component is not there.
    What could not be read breaks the policy, unless it names the file in allow_skipped.
    """
    from core.capture.reading import read_traces
    from core.pipeline import verify_all
    from core.records import State, Trace, judge_lines
    from core.workflows.evaluation_events import evaluation_logs, send_logs
    from core.workflows.gate import GateReport, read_policy
    from core.workflows.gate import junit as junit_xml
    from core.workflows.gate import sarif as sarif_document
    from core.workflows.verify import states_in_words

    report = GateReport(policy=read_policy(policy))
    require(*files)
    traces = []
    for item in read_traces(files, format, site_config()):
        if isinstance(item, Trace):
            traces.append(item)
        else:
            report.skipped.append(item)
            tell_unread(item)
    if not traces:
        raise InputError("no trace could be read")
    judging = judging.over(report.policy.judge)
    try:
        judge = judging.asked()
    except ConfigError as error:
        if report.policy.judge is None or judging.judge != report.policy.judge.address:
            raise
        raise ConfigError(f"{policy}: judge: {str(error).removeprefix('--judge: ')}") from None
    models = deciding.models(
        site_config(),
        whole_answers=report.policy.whole_answers,
    )
    models = judging.beside(models, judge)
    with Progress() as progress:
        for verification in verify_all(traces, models, site_config()):
            report.add(verification)
            progress(len(report.answers), len(traces), "traces")
    tell_judge(judge)
    if junit is not None:
        write_file(junit, junit_xml(report))
    if sarif is not None:
        write_json(sarif, sarif_document(report))
    requests = list(evaluation_logs(report.answers, time.time_ns(), explained=explanations))
    if otlp is not None:
        lines = [json.dumps(request, ensure_ascii=False) for request in requests]
        write_file(otlp, ("\n".join(lines) + "\n").encode("utf-8"))
    if otlp_endpoint is not None:
        send_logs(otlp_endpoint, requests)
    broken, earlier = report.broken, len(report.earlier.not_judged())
    said = [f"broken: {line}" for line in broken] or ["the policy is kept"]
    states = {state: report.counts.get(f"answers_{state}", 0) for state in State}
    asked = list(judge_lines(report.answers))
    stops = [_stop(finding) for finding in report.findings()]
    tell(
        {
            "passes": not broken,
            "broken": broken,
            "answers": len(report.answers),
            "skipped": len(report.skipped),
            "earlier_not_judged": earlier,
            "counts": dict(sorted(report.counts.items())),
            **({"judge": asked} if asked else {}),
        },
        [
            *stops,
            *asked,
            f"{counted(len(report.answers), 'answer')}: {states_in_words(states)}",
            *said,
        ],
        json_path,
    )
    if broken:
        raise SystemExit(GATE_BLOCKED)


def _stop(finding: Finding) -> str:
    """``case-2 c01 block, contradicted: “…” – why``: a claim that is not allowed, or a whole answer."""
    trace = finding.verification.trace.trace_id
    if finding.claim is None:
        return f"{trace} {finding.rule}: {finding.reason}"
    claim = finding.claim.claim
    number = claim.claim_id.rsplit("::", 1)[-1]
    state = finding.state.value.replace("_", " ")
    return f"{trace} {number} {state}, {finding.rule}: “{claim.text}” – {finding.claim.reasons[0]}"
