"""Native records (Appendix A)."""

from __future__ import annotations

from core.capture.carried import PlainRun
from core.records import JsonObject

NAME = "native"


def write(run: PlainRun) -> JsonObject:
    """The native record of a trace, as it was read."""
    return run.native
