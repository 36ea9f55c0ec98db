"""What an evaluation was asked for besides the packet itself, checked before any reading."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.bootstrap import RESAMPLES
from core.errors import ConfigError
from core.evaluation.tables import TABLES
from core.workflows.ablations import (
    FITTED,
    ablation_names,
)
from core.workflows.baselines import baseline_names

if TYPE_CHECKING:
    from core.workflows.judged_packet import JudgedPacket


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What ``evaluate`` was asked for besides the packet itself."""

    ablation: str | None = None
    baselines: tuple[str, ...] = ()
    baseline_weights: str | None = None
    tables: tuple[int, ...] = ()
    train: Path | None = None
    validation: Path | None = None
    beside: tuple[Path, ...] = ()  # other systems' predictions for the packet, rows of Table 13
    repairs: Path | None = None  # figures of a repair run on captured answers, for Table 19
    resamples: int = RESAMPLES
    judged: JudgedPacket | None = None  # who is asked beside the verifier


def check_options(options: Options) -> None:
    """ConfigError for a table, ablation or baseline that does not exist, before any reading."""
    if options.ablation is not None and options.ablation not in ablation_names():
        known = ", ".join(ablation_names())
        raise ConfigError(f"ablation: expected one of {known}, found {options.ablation!r}")
    for name in options.baselines:
        if name not in baseline_names():
            known = ", ".join(baseline_names())
            raise ConfigError(f"baseline: expected one of {known}, found {name!r}")
    for number in options.tables:
        if number not in TABLES:
            known = ", ".join(str(one) for one in sorted(TABLES))
            raise ConfigError(f"table: expected one of {known}, found {number}")
    if (options.train is None) != (options.validation is None):
        raise ConfigError("fitted variants need both a training and a validation packet")
    if options.ablation in FITTED and options.train is None:
        raise ConfigError(f"{options.ablation}: is fitted; give a training and a validation packet")
