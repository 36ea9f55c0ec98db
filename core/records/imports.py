"""What an import did: files, tools, and what could not be read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCount:
    """How often one tool of one server was called, and how many outputs are no evidence."""

    server: str | None
    tool: str
    calls: int
    not_evidence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCount:
    """What one file held: its format and version, and the traces read from it."""

    file: str
    format: str
    version: str | None
    traces: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """What an import did; ``skipped`` holds the first 1,000 reasons, ``skipped_count`` counts all.

    ``clashes`` counts the traces whose id another file has used for other content.
    """

    files: tuple[FileCount, ...]
    new: int
    changed: int
    unchanged: int
    tools: tuple[ToolCount, ...]
    skipped: tuple[str, ...]
    skipped_count: int
    without_answer: int
    without_evidence: int
    clashes: int = 0

    @property
    def traces(self) -> int:
        """How many traces were read."""
        return self.new + self.changed + self.unchanged
