"""evaluate, sweep, probe: labelled claims judged, and wrong credits planted in whole answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.judging import Judging, nli_model_for, tell_judge, tell_unread
from cli.options import Calibrator, Files, Format, JsonPath, Kept, NliModel, Packet, kept_beside
from cli.output import (
    Progress,
    metric_lines,
    print_lines,
    require,
    tell,
    tell_skipped,
    write_json,
)
from core.errors import ConfigError, InputError
from core.site_config import site_config

if TYPE_CHECKING:
    from core.records import Trace


def evaluate(
    packet: Packet,
    *,
    calibrator: Calibrator = None,
    nli: NliModel = None,
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
    answers: Annotated[
        Path | None,
        typer.Option("--answers", help="The captured answers of the packet's claims, for Table 8."),
    ] = None,
    repairs: Annotated[
        Path | None,
        typer.Option("--repairs", help="Figures of `repair … --json`, for Table 19."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Print every metric, by slice and by kind of error.")
    ] = False,
    judging: Judging,
    judge_traces: Annotated[
        list[Path] | None,
        typer.Option(
            "--judge-traces",
            help="With --judge: captured traces that the packet's claims are from, so that the judge is "
            "shown the question and the whole answer.",
        ),
    ] = None,
    keep: Kept = None,
    json_path: JsonPath = None,
) -> None:
    """Judge labelled claims and compare: both error rates, how claims are ranked, and more.

    Six lines say how good it is; --full and --json give all metrics.
    A run that was stopped goes on where it stopped when --keep or --json names a file.
    """
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
        answers=answers,
        repairs=repairs,
    )
    check_options(options)
    require(packet, train, validation, answers, repairs, *options.beside)
    config = site_config()
    judge = judging.asked()
    if judge is not None:
        from core.workflows.judged_packet import JudgedPacket, traces_in

        require(*judge_traces or ())
        options = replace(
            options,
            judged=lambda rows: JudgedPacket(
                judge=judge,
                traces=traces_in(judge_traces, rows) if judge_traces else {},
                asked=judging.judge_for or "unsure",
            ),
        )
    with Progress() as progress:
        models = load_models(config, nli_model=nli_model_for(nli), calibrator=calibrator)
        report, tables = evaluate_with(
            packet, models, config, options, kept=kept_beside(keep, json_path), progress=progress
        )
    tell_judge(judge)
    problems = report["problems"]
    if isinstance(problems, list):
        tell_skipped(problems)
    if not report["rows"]:
        raise InputError("no claim could be read", file=str(packet))
    if tables:
        report["tables"] = [table_to_json(one) for one in tables]
    write_json(json_path, report)
    ranking = report["ranking"]
    if full:
        apart = ("tables", "ranking", "judge", "states")
        shown = {name: value for name, value in report.items() if name not in apart}
        print_lines(metric_lines(shown), json_path)
    if full and isinstance(ranking, dict) and ranking:
        print_lines(ranking_table(packet.name, ranking), json_path)
    if not full:
        print_lines(_in_short(packet.name, report), json_path)
    print_lines(_state_lines(report["states"]), json_path)
    print_lines(_passage_lines(report.get("passages")), json_path)
    print_lines(_judge_lines(report.get("judge")), json_path)
    print_lines([line for one in tables for line in table_to_markdown(one).splitlines()], json_path)


def _in_short(name: str, report: Mapping[str, Any]) -> list[str]:
    """Six lines: what passes wrongly, what is stopped wrongly, and what reading would find."""
    from core.evaluation.ranking_scores import reading_words

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
        f"{_percent(found)} of the bad are in the 20 % that people read first",
        f"errors found by reading        {reading_words(ranked.get('reading'))}",
    ]


def _state_lines(states: object) -> list[str]:
    """Good and bad claims, faithful answers and others, by what may happen with them."""
    assert isinstance(states, dict)
    kinds = {"good": "good claims", "bad": "bad claims"}
    kinds |= {"faithful": "faithful answers", "with_error": "answers with an error"}
    counts = states["claims"] | states["answers"]
    return [
        f"{'':<22} {'allow':>6} {'needs review':>13} {'block':>6}",
        *(
            f"{words:<22} {counts[kind]['allow']:>6} {counts[kind]['needs_review']:>13} "
            f"{counts[kind]['block']:>6}"
            for kind, words in kinds.items()
        ),
    ]


def _passage_lines(counts: Any) -> list[str]:
    if counts is None:
        return []
    return [
        f"passages marked by people      {counts['in_premise']} of {counts['marked']} lie whole in the "
        f"focused premise; {counts['another_source']} are in another source than the one read"
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
    """The judge's figures beside the offline ones, a column a system; nothing where none was asked."""
    if not isinstance(judged, dict):
        return []
    from core.workflows.judged_packet import judged_columns

    asked, unread = judged["claims_asked"], judged["unread"]
    return [
        f"read by {judged['by']}: {asked} claims, {unread} not read",
        *(
            f"{name:<32}" + "".join(f"{cell:>22}" for cell in cells)
            for name, *cells in judged_columns(judged)
        ),
    ]


def sweep(
    packet: Packet,
    max_false_pass: Annotated[
        float,
        typer.Option(help="Choose the threshold that passes at most this share of bad claims."),
    ] = 0.025,
    max_false_block: Annotated[
        float, typer.Option(help="Choose the one that stops at most this share of good claims.")
    ] = 0.2,
    claims_a_day: Annotated[
        float | None, typer.Option(help="With --reviews-a-day: how many claims come in a day.")
    ] = None,
    reviews_a_day: Annotated[
        float | None, typer.Option(help="How many stopped claims people can read in a day.")
    ] = None,
    risk: Annotated[
        float,
        typer.Option(
            help="Show which threshold keeps the share of bad claims that pass below this."
        ),
    ] = 0.05,
    calibrator: Calibrator = None,
    nli: NliModel = None,
    keep: Kept = None,
    json_path: JsonPath = None,
) -> None:
    """Both error rates at every threshold, and the threshold that each rule would choose."""
    from core.calibration.guarantee import (
        bad_labels_needed,
        guarantee_lines,
        operating_points,
        points_report,
    )
    from core.workflows.evaluate import Budget, labelled_scores, sweep_packet

    bad_labels_needed(risk)  # a rate that cannot be bounded is told before anything is judged

    budget = None
    if claims_a_day is not None and reviews_a_day is not None:
        budget = Budget(claims_a_day=claims_a_day, reviews_a_day=reviews_a_day)
    elif claims_a_day is not None or reviews_a_day is not None:
        raise ConfigError("a budget needs both --claims-a-day and --reviews-a-day")
    evaluated, families = _scored(packet, calibrator, nli, kept_beside(keep, json_path))
    report = sweep_packet(
        evaluated,
        max_false_pass=max_false_pass,
        max_false_block=max_false_block,
        budget=budget,
    )
    points = operating_points(
        labelled_scores(evaluated.rows, evaluated.predictions, families), risk=risk
    )
    tell(
        {**report, "guarantee": points_report(points)},
        [*metric_lines(report), *guarantee_lines(points)],
        json_path,
    )


def _scored(
    packet: Path, calibrator: Path | None, nli: str | None, keep: Path | None
) -> tuple[Any, Any]:
    from core.workflows.evaluate import score_packet
    from core.workflows.models import load_models

    require(packet)
    config = site_config()
    with Progress() as progress:
        models = load_models(config, nli_model=nli_model_for(nli), calibrator=calibrator)
        evaluated = score_packet(packet, models, config, kept=keep, progress=progress)
    tell_skipped(evaluated.packet.problems)
    if not evaluated.rows:
        raise InputError("no claim could be read", file=str(packet))
    return evaluated, models.families


def probe(
    files: Files,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            help="A labelled packet of these traces: its gold sources say which facts are whose. "
            "Else exact values do, which stand in one source and in no other.",
        ),
    ] = None,
    count: Annotated[
        int, typer.Option(min=1, help="How many wrong credits at most; each has a twin.")
    ] = 50,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Also judge and repair the whole answers, for Table 20's counts; slow."
        ),
    ] = False,
    cache: Annotated[
        Path | None, typer.Option("--cache", help="A folder for what the models read.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed gives other probes.")] = 20260607,
    calibrator: Calibrator = None,
    nli: NliModel = None,
    format: Format = "auto",
    json_path: JsonPath = None,
) -> None:
    """Credit facts of whole answers to the wrong source of the same trace; count what is found out.

    The facts are not the verifier's choice. Every wrong credit has a twin with the right one in the
    same words: flagging everything would not do.
    """
    from core.capture.reading import read_traces
    from core.evaluation.planting import plant
    from core.workflows.cache import kept_in
    from core.workflows.models import load_models
    from core.workflows.planted import planted_document, planted_lines, run_planted

    require(*files, labels)
    config = site_config()
    with Progress() as progress:
        models = load_models(config, nli_model=nli_model_for(nli), calibrator=calibrator)
        models = models if cache is None else kept_in(cache, models)
        traces = read_traces(files, format, config)
        rows = None if labels is None else _by_trace(labels)
        kept = [one for one in _read(traces) if rows is None or one.trace_id in rows]
        planted = plant(kept, rows, models.families, count=count, seed=seed)
        outcomes = run_planted(planted, kept, models, config, repair=repair, progress=progress)
    tell(planted_document(outcomes), planted_lines(outcomes), json_path)


def _by_trace(labels: Path) -> Any:
    from core.evaluation.packets import read_packet
    from core.evaluation.planted_facts import by_trace

    packet = read_packet(labels)
    tell_skipped(packet.problems)
    return by_trace(packet.rows)


def _read(found: Iterable[Trace | InputError]) -> Iterator[Trace]:
    for one in found:
        if isinstance(one, InputError):
            tell_unread(one)
        else:
            yield one
