"""Which judge a database asks beside its own models, since when, by whom and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from core.records.judge import JudgeFor


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentJudge:
    """The judge that is asked now; ``address`` is None where none is."""

    address: str | None = None
    model: str = ""
    asked: JudgeFor = JudgeFor.UNSURE
    since: datetime | None = None
    by: str | None = None
    reason: str | None = None

    @property
    def host(self) -> str:
        """Where texts are sent, without a path."""
        return urlsplit(self.address or "").netloc

    @property
    def sent(self) -> str:
        """What leaves this machine, as a sentence."""
        if self.address is None:
            return "Nothing leaves this machine."
        return f"What is verified here is sent to the judge at {self.host}."
