"""Requests and replies kept as JSON Lines: what is kept is never asked for again.

A line is ``{"digest", "claims", "model", "text", "prompt_tokens", "reply_tokens", "seconds"}``: the
digest of the request, and of each of its claims the key and the credit noted. A request that was asked
letter for letter has its reply as it came; of any other each claim has what was replied to its key, and
what was said of a credit counts for that credit alone. Lines without ``claims`` have the digest alone.
"""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from core.errors import BadRecord, UnreadableFile
from core.judge.reply import ReplyShape, unfenced
from core.ports import Judge
from core.records.judge import JudgeFailure, JudgeRequest, JudgeText

_FIELDS = {"prompt_tokens": int, "reply_tokens": int, "seconds": float}


@dataclass(slots=True)
class KeptReplies:
    """Kept replies by digest of their request, and by key of each claim; the first one counts.

    Of one that is ``refused`` (not of the form asked for) nothing counts for another request, and the
    next one to the same request stands in its place.
    """

    shape: type[BaseModel] = ReplyShape
    texts: dict[str, JudgeText] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    claims: dict[str, tuple[Mapping[str, Any], object, str]] = field(default_factory=dict)

    def reply(self, request: JudgeRequest, *, whole: bool = False) -> JudgeText | None:
        """What is kept for the request, put together of several replies if need be; None for nothing.

        ``whole`` takes only what answers all of its claims.
        """
        text = self.texts.get(request.digest)
        if text is not None and not (whole and request.digest in self.refused):
            return text
        kept = [self.claims.get(key) for key, _ in request.keys]
        if not any(kept) or (whole and not all(kept)):
            return None
        numbered = enumerate(zip(request.keys, kept, strict=True), start=1)
        read = [
            {**(shape if credit == noted else _without_credit(shape)), "n": number}
            for number, ((_, noted), one) in numbered
            if one is not None
            for shape, credit, _ in (one,)
        ]
        model = next(one[2] for one in kept if one is not None)
        return JudgeText(text=json.dumps({"claims": read}, ensure_ascii=False), model=model)

    def add(self, digest: str, keys: Sequence[Sequence[Any]], reply: JudgeText) -> None:
        """Keep a reply; ``keys`` are those of the request's claims with the credits noted."""
        if digest in self.texts and digest not in self.refused:
            return
        try:
            text = unfenced(reply.text)
            self.shape.model_validate_json(text)
            shapes = json.loads(text)["claims"]
        except (ValueError, RecursionError):
            self.texts.setdefault(digest, reply)
            self.refused.add(digest)
            return  # read_reply says what is wrong with it, to the request that it is for
        self.texts[digest] = reply
        self.refused.discard(digest)
        numbers = [shape["n"] for shape in shapes]
        for number, (key, credit) in enumerate(keys, start=1):
            if numbers.count(number) == 1:
                shape = shapes[numbers.index(number)]
                self.claims.setdefault(key, (shape, credit, reply.model))


class Replay:
    """Implements core.ports.Judge by a file of kept replies; raises UnreadableFile and BadRecord."""

    def __init__(
        self, path: Path, name: str | None = None, shape: type[BaseModel] = ReplyShape
    ) -> None:
        self._kept = read_replies(path, shape)
        models = sorted({kept.model for kept in self._kept.texts.values()})
        self.name = name or (models[0] if len(models) == 1 else f"{len(models)} models")

    def judge(self, request: JudgeRequest) -> JudgeText | JudgeFailure:
        """The kept reply to the request."""
        return self._kept.reply(request) or JudgeFailure(
            reason="no reply to this request is kept, and replay asks nobody"
        )


class Record:
    """Implements core.ports.Judge by another one, whose replies are kept; threads may share it."""

    def __init__(self, path: Path, judge: Judge, shape: type[BaseModel] = ReplyShape) -> None:
        self._path, self._judge, self._lock = path, judge, threading.Lock()
        self._kept = read_replies(path, shape) if path.exists() else KeptReplies(shape=shape)
        self.name = judge.name

    def judge(self, request: JudgeRequest) -> JudgeText | JudgeFailure:
        """What is kept of all its claims, else the other judge's reply; a failure is not kept."""
        kept = self._kept.reply(request, whole=True)
        if kept is not None:
            return kept
        reply = self._judge.judge(request)
        if isinstance(reply, JudgeText):
            with self._lock:
                before = self._kept.texts.get(request.digest)
                self._kept.add(request.digest, request.keys, reply)
                if self._kept.texts[request.digest] is not before:
                    _append(self._path, request, reply)
                reply = self._kept.texts[request.digest]
        return reply


def read_replies(path: Path, shape: type[BaseModel] = ReplyShape) -> KeptReplies:
    """The kept replies of a file, of the form asked for; raises UnreadableFile and BadRecord."""
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        lines = content.decode("utf-8").splitlines()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"the replies cannot be read: {error}", file=path.name) from error
    found = KeptReplies(shape=shape)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            _keep(json.loads(line), found)
        except (ValueError, RecursionError) as error:
            raise BadRecord(f"no kept reply: {error}", file=path.name, line=number) from None
    return found


def reply_line(request: JudgeRequest, reply: JudgeText) -> str:
    """One line of a file of replies."""
    line = {"digest": request.digest, "claims": request.keys, **asdict(reply)}
    return json.dumps(line, ensure_ascii=False) + "\n"


def _keep(value: object, found: KeptReplies) -> None:
    if not isinstance(value, Mapping):
        raise ValueError("expected an object")
    for name in ("digest", "text", "model"):
        if not isinstance(value.get(name), str):
            raise ValueError(f"{name}: expected text")
    keys = value.get("claims", [])
    if not isinstance(keys, list) or not all(
        isinstance(one, list) and len(one) == 2 and isinstance(one[0], str) for one in keys
    ):
        raise ValueError("claims: expected a list of keys, each with the credit noted")
    cost = {
        name: kind(value[name])
        for name, kind in _FIELDS.items()
        if isinstance(value.get(name), int | float) and not isinstance(value[name], bool)
    }
    reply = JudgeText(text=value["text"], model=value["model"], **cost)
    found.add(value["digest"], keys, reply)


def _without_credit(shape: Mapping[str, Any]) -> dict[str, Any]:
    """What was said of a claim, without what was said of another credit than is noted now."""
    said = {name: value for name, value in shape.items() if name != "credit_is_right"}
    if isinstance(said.get("attribution"), Mapping):
        said["attribution"] = {**said["attribution"], "stated_is_right": None}
    return said


def _append(path: Path, request: JudgeRequest, reply: JudgeText) -> None:
    """Add a line, so that a run that ends in the middle keeps what it paid for."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(reply_line(request, reply))
