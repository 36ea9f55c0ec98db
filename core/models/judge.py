"""A judge behind any OpenAI-compatible endpoint: one chat completion a request, nothing kept here.

What goes wrong (no server, time-out, refusal, a cut reply, a spent budget) is a JudgeFailure. The key
stands in the client alone: in no name, representation, message or record.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from core.errors import ConfigError
from core.models.chat_client import (
    NoReply,
    chat_client,
    completed,
    http_address,
    is_loopback,
    message_of,
)
from core.records.judge import JudgeFailure, JudgeRequest, JudgeText

KEY_VARIABLE = "PROVENANCEGUARD_JUDGE_KEY"
SECONDS_VARIABLE = "PROVENANCEGUARD_JUDGE_SECONDS"
SECONDS = 180.0  # for one reply
KEY_FILE_VARIABLE = "PROVENANCEGUARD_JUDGE_KEY_FILE"
HOSTS_VARIABLE = "PROVENANCEGUARD_JUDGE_HOSTS"
SEED = 1
MOST_REPLY_TOKENS = 32_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """Where a judge is served; raises ConfigError for what may not be asked.

    Texts leave this machine only over https and to a host of ``hosts``; plain http is for loopback.
    """

    url: str
    model: str
    hosts: frozenset[str] = frozenset()
    timeout_seconds: float = SECONDS
    at_once: int = 4
    tokens: int = 2_000_000  # of a run, asked and replied
    key: str = field(default="none", repr=False)  # local servers ask for none

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise ConfigError("--judge-model: a judge needs the name of its model")
        parts = http_address("--judge", self.url)
        host = (parts.hostname or "").lower()
        if is_loopback(host):
            return
        if parts.scheme != "https":
            raise ConfigError(f"--judge: {host} is not this machine, and only https may leave it")
        if host not in self.hosts:
            raise ConfigError(
                f"--judge: answers and their sources would be sent to {host}; a host that may have them "
                f"is named in {HOSTS_VARIABLE}"
            )

    @property
    def host(self) -> str:
        """Where it is served, without a path."""
        return urlsplit(self.url).netloc


def settings_from(
    url: str, model: str, environment: Mapping[str, str] = os.environ
) -> JudgeSettings:
    """The settings with key, hosts and patience from the environment; raises ConfigError.

    The key stands in a variable, or in a file that only its owner may read.
    """
    waits = environment.get(SECONDS_VARIABLE, str(SECONDS))
    try:
        seconds = float(waits)
    except ValueError:
        seconds = 0.0
    if not 1.0 <= seconds <= 86_400.0:
        raise ConfigError(f"{SECONDS_VARIABLE}: expected 1 to 86400 seconds, found {waits!r:.20}")
    key = environment.get(KEY_VARIABLE)
    if key is None and (name := environment.get(KEY_FILE_VARIABLE)):
        key = _key_in(Path(name))
    hosts = environment.get(HOSTS_VARIABLE, "").replace(",", " ").lower().split()
    return JudgeSettings(
        url=url, model=model, hosts=frozenset(hosts), timeout_seconds=seconds, key=key or "none"
    )


def load_judge(settings: JudgeSettings, instructions: str, schema: Mapping[str, Any]) -> ChatJudge:
    """A judge ready to be asked; ComponentUnavailable without the extra `judge`.

    ``instructions`` are named in its name by their digest; ``schema`` is the JSON schema of a reply.
    """
    client = chat_client(
        "judge",
        settings.url,
        key=settings.key,
        timeout_seconds=settings.timeout_seconds,
        retries=1,
    )
    digest = hashlib.sha256(instructions.encode()).hexdigest()[:8]
    name = f"{settings.model}@{settings.host}#{digest}"
    return ChatJudge(name=name, settings=settings, client=client, schema=schema)


class ChatJudge:
    """Implements core.ports.Judge; threads may share it."""

    def __init__(
        self, *, name: str, settings: JudgeSettings, client: Any, schema: Mapping[str, Any]
    ) -> None:
        self.name, self._settings, self._client = name, settings, client
        self._places = threading.BoundedSemaphore(settings.at_once)
        self._lock = threading.Lock()
        self._left = settings.tokens
        self._forms = list(_forms(schema))  # ways to ask for the form, the strictest first

    def judge(self, request: JudgeRequest) -> JudgeText | JudgeFailure:
        """The reply as it came, or why there is none."""
        with self._places:
            with self._lock:
                if request.tokens > self._left:
                    return JudgeFailure(reason="the token budget of this run is spent")
                self._left -= request.tokens
            start = time.monotonic()
            reply = self._asked(request)
            if isinstance(reply, JudgeFailure):
                return reply
            used = (reply.prompt_tokens or request.tokens) + (reply.reply_tokens or 0)
            with self._lock:
                self._left -= used - request.tokens
            return replace(reply, seconds=round(time.monotonic() - start, 3))

    def close(self) -> None:
        """Give the connections back."""
        self._client.close()

    def _asked(self, request: JudgeRequest) -> JudgeText | JudgeFailure:
        while True:
            form = self._forms[0]
            completion = completed(
                self._client,
                "reply",
                self._settings.timeout_seconds,
                model=self._settings.model,
                messages=[
                    {"role": "system", "content": request.system},
                    {"role": "user", "content": request.user},
                ],
                seed=SEED,
                max_tokens=MOST_REPLY_TOKENS,
                **form,
            )
            if not isinstance(completion, NoReply):
                return _read(completion, self._settings.model)
            # A server that knows no such form says so with one of these.
            if completion.status not in (400, 404, 422, 501) or not self._without(form):
                return JudgeFailure(reason=completion.reason)

    def _without(self, form: Mapping[str, Any]) -> bool:
        """Whether there is a plainer form to ask for than this one, which is not asked for again."""
        with self._lock:
            if form in self._forms and len(self._forms) > 1:
                self._forms.remove(dict(form))
                return True
            return form not in self._forms


def _forms(schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    named = {"name": "reply", "schema": dict(schema)}
    yield {"response_format": {"type": "json_schema", "json_schema": named}}
    function = {"name": "reply", "parameters": dict(schema)}
    yield {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": "reply"}},
    }
    yield {}


def _read(completion: Any, model: str) -> JudgeText | JudgeFailure:
    found = message_of(completion)
    if isinstance(found, NoReply):
        return JudgeFailure(reason=found.reason)
    message, finish = found
    if finish == "length":
        return JudgeFailure(reason="its reply was cut")
    calls = getattr(message, "tool_calls", None) or ()
    text = calls[0].function.arguments if calls else getattr(message, "content", None)
    if not isinstance(text, str) or not text.strip():
        return JudgeFailure(reason="it replied with nothing")
    usage = getattr(completion, "usage", None)
    return JudgeText(
        text=text,
        model=model,
        prompt_tokens=_count(getattr(usage, "prompt_tokens", None)),
        reply_tokens=_count(getattr(usage, "completion_tokens", None)),
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _key_in(path: Path) -> str:
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode) or mode & 0o077:
            raise ConfigError(f"{KEY_FILE_VARIABLE}: only its owner may read that file (chmod 600)")
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ConfigError(f"{KEY_FILE_VARIABLE}: that file cannot be read") from None
