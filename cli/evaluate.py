"""evaluate: labelled claims judged and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.judging import judge_for as named_judge
from cli.judging import reader_for, tell_judge
from cli.options import (
    Calibrator,
    JsonPath,
    JudgeAsked,
    JudgedBy,
    JudgeDryRun,
    JudgeModel,
    JudgeTraces,
    JudgeUrl,
    Kept,
    Packet,
    Reader,
    kept_beside,
)
from cli.output import Progress, metric_lines, print_lines, require, tell_skipped, write_json
from core.errors import ConfigError, InputError

EXAMPLE = "Example: provenanceguard evaluate packets.jsonl --json metrics.json --table 3 --table 6"


def evaluate(
    packet: Packet,
    calibrator: Calibrator = None,
    reader: Reader = None,
    ablation: Annotated[
        str | None, typer.Option("--ablation", help="Measure this variant instead, by name.")
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option("--baseline", help="Also run this source-blind baseline, by name."),
    ] = None,
    baseline_weights: Annotated[
        str | None, typer.Option(help="A folder with a published baseline's own weights.")
    ] = None,
    table: Annotated[
        list[int] | None,
        typer.Option("--table", help="Also print this table of the paper, ours beside it."),
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="A training packet, for variants that are fitted.")
    ] = None,
    validation: Annotated[
        Path | None, typer.Option(help="A validation packet, for their thresholds.")
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option("--beside", help="Another system's predictions, as a row of Table 13."),
    ] = None,
    repairs: Annotated[
        Path | None,
        typer.Option("--repairs", help="Figures of `repair … --json`, for Table 19."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Print every metric, by slice and by kind of error.")
    ] = False,
    judge: JudgedBy = None,
    judge_model: JudgeModel = None,
    judge_url: JudgeUrl = None,
    judge_traces: JudgeTraces = None,
    judge_for: JudgeAsked = "unsure",
    judge_dry_run: JudgeDryRun = False,
    keep: Kept = None,
    json_path: JsonPath = None,
) -> None:
    """Judge labelled claims and compare: both error rates, how claims are ranked, and more.

    Five lines say how good it is; --full and --json give all metrics.
    A run that was stopped goes on where it stopped when --keep or --json names a file.
    """
    from core.config import Config
    from core.evaluation.ranking import ranking_table
    from core.evaluation.tables import table_to_json, table_to_markdown
    from core.workflows.compare import Options, check_options, evaluate_with
    from core.workflows.models import load_models

    options = Options(
        ablation=ablation,
        baselines=tuple(baseline or ()),
        baseline_weights=baseline_weights,
        tables=tuple(table or ()),
        train=train,
        validation=validation,
        beside=tuple(beside or ()),
        repairs=repairs,
    )
    check_options(options)
    given = (one for one in (train, validation, repairs, *options.beside) if one is not None)
    require([packet, *given])
    config = Config()
    asked = named_judge(judge, judge_model, judge_url, dry_run=judge_dry_run)
    if asked is not None:
        from core.workflows.judged_packet import JudgedPacket

        if not judge_traces:
            raise ConfigError(
                "--judge: give the traces that the claims are from with --judge-traces"
            )
        require(judge_traces)
        options = replace(
            options, judged=JudgedPacket(judge=asked, traces=tuple(judge_traces), asked=judge_for)
        )
    with Progress() as progress:
        models = load_models(config, pair_reader=reader_for(reader), calibrator=calibrator)
        report, tables = evaluate_with(
            packet, models, config, options, kept=kept_beside(keep, json_path), progress=progress
        )
    tell_judge(asked)
    problems = report["problems"]
    if isinstance(problems, list):
        tell_skipped(problems, len(problems))
    if not report["rows"]:
        raise InputError("no claim could be read", file=str(packet))
    if tables:
        report["tables"] = [table_to_json(one) for one in tables]
    write_json(json_path, report)
    ranking = report["ranking"]
    if full:
        apart = ("tables", "ranking", "judge")
        shown = {name: value for name, value in report.items() if name not in apart}
        print_lines(metric_lines(shown), json_path)
    if full and isinstance(ranking, dict) and ranking:
        print_lines(ranking_table(packet.name, ranking), json_path)
    if not full:
        print_lines(_in_short(packet.name, report), json_path)
    print_lines(_judge_lines(report.get("judge")), json_path)
    print_lines([line for one in tables for line in table_to_markdown(one).splitlines()], json_path)


def _in_short(name: str, report: Mapping[str, Any]) -> list[str]:
    """Five lines: what passes wrongly, what is stopped wrongly, and what reading would find."""
    systems = report["ranking"].get("systems", {})
    ranked: Mapping[str, Any] = next(iter(systems.values()), {})
    found = ranked.get("bad_found_in_first_0.2")
    stopped = report["answer_false_block_rate"]
    return [
        f"{name}: {report['claims']} labelled claims of {report['answers']} answers, "
        f"{report['claims_to_block']} of them bad",
        f"bad claims passed              {_rate(report, 'false_pass_rate')}",
        f"good claims stopped            {_rate(report, 'false_block_rate')}",
        f"faithful answers allowed       {_percent(None if stopped is None else 1 - stopped)}",
        f"bad claims ranked below good   AUROC {_number(ranked.get('auroc'))}"
        f"{_between(ranked.get('auroc_ci95'))}; "
        f"{_percent(found)} of the bad are in the least supported 20 %",
    ]


def _rate(report: Mapping[str, Any], name: str) -> str:
    interval = report.get(f"{name}_ci95")
    bounds = f" ({_percent(interval[0])} to {_percent(interval[1])})" if interval else ""
    return _percent(report[name]) + bounds


def _percent(share: float | None) -> str:
    return "nothing to count" if share is None else f"{100 * share:.0f} %"


def _between(interval: Sequence[float] | None) -> str:
    return f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else ""


def _number(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.2f}"


def _judge_lines(judged: object) -> list[str]:
    """The judge's figures beside the offline ones, one system a line; nothing where none was asked."""
    if not isinstance(judged, dict):
        return []
    return [
        f"read by {judged['by']}: {judged['claims_asked']} claims, {judged['unread']} not read",
        *(
            f"  {name.replace('_', ' '):<14} bad passed {one['bad_passed']} of {one['bad']}, "
            f"good stopped {one['good_stopped']} of {one['good']}, "
            f"faithful answers allowed {one['faithful_allowed']} of {one['faithful_answers']}"
            for name, one in judged["systems"].items()
        ),
    ]
