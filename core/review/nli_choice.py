"""Which NLI model a database verifies with, since when, by whom and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from core.models.loading import BUNDLED


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentNliModel:
    """What reads now; ``since``, ``by`` and ``reason`` are None as long as nobody has chosen."""

    nli: str = BUNDLED
    since: datetime | None = None
    by: str | None = None
    reason: str | None = None
