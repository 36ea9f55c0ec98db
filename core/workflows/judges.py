"""Judges: what ``--judge`` names (an endpoint, or replies that are kept), and a database's choice."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel

from core.errors import ComponentUnavailable, ConfigError
from core.judge.asking import ask
from core.judge.replay import Record, Replay
from core.judge.reply import ReplyShape
from core.judge.request import INSTRUCTIONS
from core.models.judge import load_judge, settings_from
from core.ports import Judge
from core.records import Claim, Source, Span, Trace
from core.records.judge import JudgeFailure, JudgeFor, JudgeRequest, JudgeText, Proved
from core.review.records import Person
from core.workflows.models import JudgeChoice

TRIAL_SECONDS = 60.0


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
    shape: type[BaseModel] = ReplyShape,
) -> Judge:
    """The judge of ``--judge``; raises ConfigError, UnreadableFile and ComponentUnavailable.

    An endpoint that takes longer than ``seconds`` for a reply gives none. ``instructions`` and the
    ``shape`` of a reply are those of verdicts where none are given.

    ``replay:FILE`` answers from the file alone; ``record:FILE`` asks the endpoint ``url`` for what the
    file does not hold, and adds it.
    """
    kind, _, file = named.partition(":")
    if kind == "replay":
        return Replay(Path(file), shape=shape)
    if kind == "record":
        if url is None:
            raise ConfigError("--judge record:FILE: give the endpoint with --judge-url")
        return Record(
            Path(file),
            judge_named(url, model, seconds=seconds, instructions=instructions, shape=shape),
            shape,
        )
    if model is None:
        raise ConfigError("--judge-model: say which model the endpoint is to use")
    settings = settings_from(named, model)
    if seconds is not None:
        settings = replace(settings, timeout_seconds=seconds)
    return load_judge(settings, instructions, shape.model_json_schema())


# ---------------------------------------------------------------- the judge of a database


class JudgeChoices(JudgeChoice, Protocol):
    """A repository of which judge was chosen when."""

    def choose(
        self, address: str | None, model: str, asked: JudgeFor, reason: str, by: Person
    ) -> None:
        """Ask that judge from now on, nobody where ``address`` is None."""


class _Announced:
    """Implements core.ports.Judge by another one; the trail says what is sent before it is."""

    def __init__(self, judge: Judge, choices: JudgeChoice) -> None:
        self.name, self._judge, self._choices = judge.name, judge, choices

    def judge(self, request: JudgeRequest) -> JudgeText | JudgeFailure:
        self._choices.sent(self.name, request)
        return self._judge.judge(request)


@dataclass(slots=True, kw_only=True)
class Silent:
    """Implements core.ports.Judge where none may be asked: nothing is sent, and ``reason`` says why."""

    name: str
    reason: str

    def judge(self, request: JudgeRequest) -> JudgeText | JudgeFailure:
        """The failure."""
        return JudgeFailure(reason=self.reason)


def chosen_judge(choices: JudgeChoice) -> Judge:
    """The judge that was chosen; one that is silent where this process may not or cannot ask it.

    Raises ConfigError where nobody is asked.
    """
    now = choices.current()
    if now.address is None:
        raise ConfigError("no judge is asked any more: a lead has switched it off")
    try:
        return _Announced(judge_named(now.address, now.model), choices)
    except (ConfigError, ComponentUnavailable) as error:
        return Silent(name=f"{now.model}@{now.host}", reason=str(error).removeprefix("--judge: "))


def choose_judge(
    choices: JudgeChoices, address: str, model: str, asked: JudgeFor, reason: str, user: Person
) -> None:
    """Ask the judge at that endpoint from now on.

    Raises ConfigError for an address that may not be asked, NotAllowed, and InputError without a reason.
    """
    settings = settings_from(address.strip(), model.strip())
    choices.choose(settings.url, settings.model, asked, reason, user)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of asking a judge about an invented claim; ``works`` where its proof held."""

    works: bool
    told: str


def try_judge(address: str, model: str) -> Trial:
    """What comes of asking about one invented claim; raises ConfigError and ComponentUnavailable."""
    settings = settings_from(address.strip(), model.strip())
    judge = load_judge(
        replace(settings, timeout_seconds=TRIAL_SECONDS),
        INSTRUCTIONS,
        ReplyShape.model_json_schema(),
    )
    said = "The potassium was 4.6 mmol/L."
    trace = Trace(
        trace_id="trial",
        question="What was the potassium?",
        answer=said,
        sources=(Source(source_id="labs", tool_name="get_labs", text="Potassium: 4.6 mmol/L"),),
    )
    claim = Claim(claim_id="trial::c01", text=said, span=Span(start=0, end=len(said)), said=said)
    start = time.monotonic()
    (outcome,) = ask(trace, [claim], judge, b"trial").values()
    took = f"{time.monotonic() - start:.1f} s"
    if outcome.notice is not None:
        return Trial(
            works=False, told=f"{outcome.by} was asked for {took}, in vain: {outcome.notice}."
        )
    if not isinstance(outcome.proof, Proved):
        return Trial(
            works=False,
            told=f"{outcome.by} replied in {took}, in the form asked for, and got a plain claim wrong: "
            f"{outcome.word}. A larger model may do.",
        )
    return Trial(
        works=True, told=f"{outcome.by} replied in {took}, and the proof of its verdict holds."
    )
