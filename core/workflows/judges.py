"""What ``--judge`` names: an endpoint, replies that are kept, or an endpoint whose replies are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.errors import ConfigError
from core.judge.replay import Record, Replay
from core.judge.reply import ReplyShape
from core.judge.request import INSTRUCTIONS
from core.models.judge import load_judge, settings_from
from core.ports import Judge
from core.records.judge import JudgeFailure, JudgeRequest, JudgeText


@dataclass(slots=True)
class Count:
    """Implements core.ports.Judge by asking nobody: it counts what would be sent."""

    name: str = "nobody"
    requests: int = 0
    claims: int = 0
    tokens: int = field(default=0)

    def judge(self, request: JudgeRequest) -> JudgeText | JudgeFailure:
        """A failure, after counting the request."""
        self.requests += 1
        self.claims += len(request.claims)
        self.tokens += request.tokens
        return JudgeFailure(reason="this was a dry run")


class Logged:
    """Implements core.ports.Judge by another one; each request is told in counts, without its text."""

    def __init__(self, judge: Judge, tell: Callable[[str], None]) -> None:
        self.name, self._judge, self._tell = judge.name, judge, tell

    def judge(self, request: JudgeRequest) -> JudgeText | JudgeFailure:
        """What the other one gives."""
        reply = self._judge.judge(request)
        sent = f"judge {self.name}: claims {len(request.claims)}"
        if isinstance(reply, JudgeFailure):
            self._tell(f"{sent}, tokens about {request.tokens}, no reply: {reply.reason}")
        else:
            sent += f", tokens {reply.prompt_tokens or request.tokens}"
            self._tell(f"{sent}, replied {reply.reply_tokens or 0}, {reply.seconds or 0:.1f} s")
        return reply


def judge_named(
    named: str,
    model: str | None,
    *,
    url: str | None = None,
    seconds: float | None = None,
    instructions: str = INSTRUCTIONS,
    schema: Mapping[str, Any] | None = None,
) -> Judge:
    """The judge of ``--judge``; raises ConfigError, UnreadableFile and ComponentUnavailable.

    An endpoint that takes longer than ``seconds`` for a reply gives none. ``instructions`` and the JSON
    ``schema`` of a reply are those of verdicts where none are given.

    ``replay:FILE`` answers from the file alone; ``record:FILE`` asks the endpoint ``url`` for what the
    file does not hold, and adds it.
    """
    kind, _, file = named.partition(":")
    if kind == "replay":
        return Replay(Path(file))
    if kind == "record":
        if url is None:
            raise ConfigError("--judge record:FILE: give the endpoint with --judge-url")
        return Record(
            Path(file),
            judge_named(url, model, seconds=seconds, instructions=instructions, schema=schema),
        )
    if model is None:
        raise ConfigError("--judge-model: say which model the endpoint is to use")
    settings = settings_from(named, model)
    if seconds is not None:
        settings = replace(settings, timeout_seconds=seconds)
    return load_judge(settings, instructions, schema or ReplyShape.model_json_schema())
