"""Arguments and options that several commands have, and classes of options as parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

Files = Annotated[
    list[Path], typer.Argument(help="Captured traces: .json, .jsonl, .gz, or a folder of them.")
]
Format = Annotated[
    str, typer.Option("--format", help="The captured format; auto recognises each file's own.")
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--db",
        help="A SQLite file or postgresql+psycopg:// URL; else PROVENANCEGUARD_DB, else "
        "data/workbench.db.",
    ),
]
JsonPath = Annotated[
    Path | None, typer.Option("--json", help="Write the result as JSON to this file; - is stdout.")
]
Decides = Annotated[
    str | None,
    typer.Option(
        "--calibrator",
        help="A calibrator's folder, 'shipped', or 'promoted': the one in force in the database. "
        "Else promoted for the database's own traces, and shipped for files.",
    ),
]
NliModel = Annotated[
    str | None,
    typer.Option(
        "--nli-model",
        help="The NLI model: bundled, accurate, paper, a folder, or a model of the hub "
        "(owner/name). Else what the database says for its own traces, and bundled for files.",
    ),
]
WholeAnswers = Annotated[
    bool,
    typer.Option(
        "--whole-answers",
        help="Let an answer of 8 or more claims pass as a whole where its weakest claims together are "
        "strong enough. Measured: 7 of 15 right ones and 3 of 98 with mostly several wrong claims; by "
        "other authors 9 of 48 right ones, 7 of 24 with a single wrong claim, none of 24 with more. "
        "Else every claim has to pass by itself.",
    ),
]
JudgedBy = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="Also ask a language model, whose proof is checked: the address of an OpenAI-compatible "
        "endpoint, replay:FILE (kept replies alone), or record:FILE (with --judge-url). Question, "
        "answer and sources are sent there.",
    ),
]
JudgeModel = Annotated[
    str | None, typer.Option("--judge-model", help="The model that the judge's endpoint is to use.")
]
JudgeUrl = Annotated[
    str | None, typer.Option("--judge-url", help="With --judge record:FILE: the endpoint to ask.")
]
JudgeAsked = Annotated[
    Literal["unsure", "all", "blocked"] | None,
    typer.Option(
        "--judge-for",
        help="Which claims: those that would be left to a person (unsure, the default), all, or those "
        "that are blocked.",
    ),
]
JudgeDryRun = Annotated[
    bool,
    typer.Option("--judge-dry-run", help="Ask nobody: count what would be sent, in tokens."),
]
Packet = Annotated[Path, typer.Argument(help="Labelled claim packets: .jsonl or .jsonl.gz.")]
Calibrator = Annotated[
    Path | None,
    typer.Option("--calibrator", help="A calibrator's folder; else the one that is shipped."),
]
Kept = Annotated[
    Path | None,
    typer.Option("--keep", help="Keep predictions in this file, so that a stopped run goes on."),
]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command for typer: in place of each parameter that is a dataclass of options, its fields."""
    called = signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: one.annotation
        for name, one in called.parameters.items()
        if is_dataclass(one.annotation)
    }
    given: list[Parameter] = []
    for name, one in called.parameters.items():
        if name not in groups:
            given.append(one.replace(kind=Parameter.KEYWORD_ONLY))
            continue
        hints = get_type_hints(groups[name], include_extras=True)
        given += [
            Parameter(
                each.name,
                Parameter.KEYWORD_ONLY,
                default=each.default,
                annotation=hints[each.name],
            )
            for each in fields(groups[name])
        ]

    @wraps(command)
    def run(**options: Any) -> None:
        for name, kind in groups.items():
            options[name] = kind(**{each.name: options.pop(each.name) for each in fields(kind)})
        command(**options)

    run.__signature__ = called.replace(parameters=given)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in given}
    return run


def kept_beside(keep: Path | None, json_path: Path | None) -> Path | None:
    """Where predictions are kept: as asked, else beside the JSON file, else nowhere."""
    if keep is not None or json_path is None or str(json_path) == "-":
        return keep
    return json_path.with_name(json_path.name + ".predictions.jsonl")
