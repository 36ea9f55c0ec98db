"""What both services are started with."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.judging import models_for
from core.errors import ComponentUnavailable

if TYPE_CHECKING:
    from core.config import Config
    from service.verbs import Limits

Tokens = Annotated[
    Path, typer.Option("--tokens", help="Bearer tokens, one a line; made when it is not there.")
]
NoToken = Annotated[
    bool, typer.Option("--no-token", help="Whoever is on this machine may ask; loopback only.")
]
MostBytes = Annotated[int, typer.Option("--most-bytes", min=1, help="The largest request.")]
Seconds = Annotated[
    float, typer.Option("--seconds", min=0.001, help="How long one request may take.")
]
MostWaiting = Annotated[
    int, typer.Option("--most-waiting", min=1, help="Answers that may wait before others get 429.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The service package, loaded late, with what it is given."""

    running: Any
    models: Any
    config: Config
    limits: Limits


def served(
    most_bytes: int,
    seconds: float,
    calibrator: str | None,
    reader: str | None,
    *,
    whole_answers: bool = False,
) -> Parts:
    """Load the models and the service; raises ComponentUnavailable without the extra."""
    running = service_module("running")
    from core.config import Config
    from service.verbs import Limits

    config = Config()
    models = models_for(config, calibrator, reader=reader, whole_answers=whole_answers)
    limits = Limits(most_bytes=most_bytes, seconds=seconds)
    return Parts(running=running, models=models, config=config, limits=limits)


def service_module(name: str) -> Any:
    """A module of the service package; raises ComponentUnavailable without the extra."""
    try:
        return import_module(f"service.{name}")
    except ModuleNotFoundError as error:
        raise ComponentUnavailable(
            f"{error.name} is not installed: pip install 'provenanceguard-workbench[service]'"
        ) from None


def tokens_file(tokens: Path, no_token: bool) -> Path | None:
    """The file with the tokens, None when nobody needs one."""
    return None if no_token else tokens
