"""Requests and replies kept as JSON Lines by digest of the request: a kept reply is never asked for again.

A line is ``{"digest", "model", "text", "prompt_tokens", "reply_tokens", "seconds"}``. `Replay` answers
from a file alone; `Record` asks another judge for what the file does not hold, and adds it.
"""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from core.errors import BadRecord, UnreadableFile
from core.ports import Judge
from core.records.judge import JudgeFailure, JudgeRequest, JudgeText

_FIELDS = {"prompt_tokens": int, "reply_tokens": int, "seconds": float}


class Replay:
    """Implements core.ports.Judge by a file of kept replies; raises UnreadableFile and BadRecord."""

    def __init__(self, path: Path, name: str | None = None) -> None:
        self._kept = read_replies(path)
        models = sorted({kept.model for kept in self._kept.values()})
        self.name = name or (models[0] if len(models) == 1 else f"{len(models)} models")

    def judge(self, request: JudgeRequest) -> JudgeText | JudgeFailure:
        """The kept reply to the request."""
        kept = self._kept.get(request.digest)
        return kept or JudgeFailure(
            reason="no reply to this request is kept, and replay asks nobody"
        )


class Record:
    """Implements core.ports.Judge by another one, whose replies are kept; threads may share it."""

    def __init__(self, path: Path, judge: Judge) -> None:
        self._path, self._judge, self._lock = path, judge, threading.Lock()
        self._kept = read_replies(path) if path.exists() else {}
        self.name = judge.name

    def judge(self, request: JudgeRequest) -> JudgeText | JudgeFailure:
        """The kept reply, else the other judge's; a failure is not kept."""
        kept = self._kept.get(request.digest)
        if kept is not None:
            return kept
        reply = self._judge.judge(request)
        if isinstance(reply, JudgeText):
            with self._lock:
                if request.digest not in self._kept:
                    self._kept[request.digest] = reply
                    _append(self._path, request.digest, reply)
                reply = self._kept[request.digest]
        return reply


def read_replies(path: Path) -> dict[str, JudgeText]:
    """The kept replies by digest of their request; of two to one request the first counts."""
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        lines = content.decode("utf-8").splitlines()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"the replies cannot be read: {error}", file=path.name) from error
    found: dict[str, JudgeText] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            digest, reply = _kept(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise BadRecord(f"no kept reply: {error}", file=path.name, line=number) from None
        found.setdefault(digest, reply)
    return found


def reply_line(digest: str, reply: JudgeText) -> str:
    """One line of a file of replies."""
    return json.dumps({"digest": digest, **asdict(reply)}, ensure_ascii=False) + "\n"


def _kept(value: object) -> tuple[str, JudgeText]:
    if not isinstance(value, Mapping):
        raise ValueError("expected an object")
    for name in ("digest", "text", "model"):
        if not isinstance(value.get(name), str):
            raise ValueError(f"{name}: expected text")
    cost = {
        name: kind(value[name])
        for name, kind in _FIELDS.items()
        if isinstance(value.get(name), int | float) and not isinstance(value[name], bool)
    }
    return value["digest"], JudgeText(text=value["text"], model=value["model"], **cost)


def _append(path: Path, digest: str, reply: JudgeText) -> None:
    """Add a line, so that a run that ends in the middle keeps what it paid for."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(reply_line(digest, reply))
