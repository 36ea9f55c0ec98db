"""Every error that this project raises on purpose, as one tree.

ProvenanceGuardError
├── InputError               what was given cannot be used: file, line, JSON path, what was found
│   ├── UnreadableFile       missing, truncated, not text, not an archive of what it claims to be
│   ├── UnknownFormat        no importer recognises the file
│   └── BadRecord            one record of a file is wrong; the others still load
├── ConfigError              a setting is unknown or out of range
├── ComponentUnavailable     a model, weights file, database or server that is needed is not there
│   ├── DamagedArtifact      it is there, but its digest or its shape is not the recorded one
│   ├── Overdue              the work took longer than it may, and was ended
│   └── Busy                 as much waits as may wait: ask again later
├── StageError               a stage could not judge a claim: pipeline.judge_or_block blocks it
│   ├── ClaimError           the claim is malformed or too long to be read whole
│   ├── RouteError           no source could be routed to
│   ├── PremiseError         the routed source holds no evidence text
│   └── NliError         the NLI model gave no usable NLI score
└── StoreError               the database refused
    ├── NotFound             no such record
    ├── Conflict             someone else changed it first
    ├── NotAllowed           this person may not do that
    └── TooSoon              a verdict came faster than anybody can read the claim
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class ProvenanceGuardError(Exception):
    """Root of the tree: caught at the front doors (terminal, browser), never below."""


class InputError(ProvenanceGuardError):
    """What was given cannot be used; the message says where and what was found."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        path: str | None = None,
    ) -> None:
        self.message, self.file, self.line, self.path = message, file, line, path
        super().__init__(self.located())

    def located(self) -> str:
        """The message behind its place: ``traces.jsonl:3: full_tool_outputs[2].text: expected …``."""
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}"
        parts = [part for part in (place, self.path) if part]
        return ": ".join([*parts, self.message])


class UnreadableFile(InputError):
    """The file is missing, cut off, or not of the kind its name says."""


class UnknownFormat(InputError):
    """No importer recognises the file."""


class BadRecord(InputError):
    """One record of a file is wrong; the good ones still load."""


class ConfigError(ProvenanceGuardError):
    """A setting is unknown or out of range."""


class ComponentUnavailable(ProvenanceGuardError):
    """A model, weights file, database or server that is needed is not there."""


class DamagedArtifact(ComponentUnavailable):
    """An artifact is there, but it is not the one that was recorded."""


class Overdue(ComponentUnavailable):
    """The work on a trace took longer than it may, or nobody waits for it any more: it was ended."""


class Busy(ComponentUnavailable):
    """As much waits as may wait; ``retry_seconds`` from now there should be room."""

    def __init__(self, retry_seconds: int) -> None:
        self.retry_seconds = retry_seconds
        super().__init__(f"as much waits as may wait; ask again in {retry_seconds} s")


class StageError(ProvenanceGuardError):
    """A stage could not judge a claim; the claim is blocked with this message as its reason."""

    stage = "stage"


class ClaimError(StageError):
    """The claim is malformed, or too long to be read whole."""

    stage = "claims"


class RouteError(StageError):
    """No source could be routed to."""

    stage = "routing"


class PremiseError(StageError):
    """The routed source holds no evidence text."""

    stage = "premise"


class NliError(StageError):
    """The NLI model gave no usable NLI score."""

    stage = "nli"


class StoreError(ProvenanceGuardError):
    """The database refused."""


class NotFound(StoreError):
    """No such record."""


class Conflict(StoreError):
    """Someone else changed the record first."""


class NotAllowed(StoreError):
    """The person lacks the role for it, or it is somebody else's to do."""


class TooSoon(StoreError):
    """A verdict came sooner after the claim appeared than the project allows."""


def fault_words(error: BaseException) -> str:
    """The kind and place of a bug, without its message: that may quote a trace."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"a fault in this program: {type(error).__name__}{place}"


_TRIED = ("str", "dict[str,any]", "list[any]")  # kinds that pydantic names among the places


def json_path(location: Sequence[int | str]) -> str:
    """``tool_outputs[2].text`` of pydantic's location, empty for the whole."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part not in _TRIED:
            path += f".{part}"
    return path.removeprefix(".")


def first_problem(error: ValidationError) -> tuple[str, str]:
    """Of what pydantic found wrong the first: its JSON path, and why; nothing of the input."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return json_path(first["loc"]), first["msg"]
