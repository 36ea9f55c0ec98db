"""Addresses that may be asked, and one chat completion of an OpenAI-compatible endpoint."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from core.errors import ComponentUnavailable, ConfigError

MOST_REPLY_BYTES = 4 * 2**20  # ten times the longest reply that is read
TOO_LONG = f"its endpoint answered with more than {MOST_REPLY_BYTES // 2**20} MiB, or packed"
UNREADABLE = "its endpoint answered with something unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoReply:
    """Why there is no reply, in words for a person; ``status`` where the endpoint answered with one."""

    reason: str
    status: int | None = None


class ReplyTooLong(Exception):
    """An endpoint sends more than is read."""


def chat_client(what: str, url: str, *, key: str, timeout_seconds: float, retries: int) -> Any:
    """An `openai.OpenAI`; ComponentUnavailable, in the name of ``what``, without the extra `judge`."""
    try:
        import httpx2  # what the package openai is made with
        import openai
    except ImportError as error:
        raise ComponentUnavailable(
            f"{what}: the package openai is not installed (pip install 'provenanceguard-workbench[judge]')"
        ) from error

    class Bounded(httpx2.HTTPTransport):
        """Takes a plain reply as far as it is one."""

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            request.headers["accept-encoding"] = "identity"  # a packed one may be of any length
            response = super().handle_request(request)
            if response.headers.get("content-encoding", "identity") != "identity":
                response.close()
                raise ReplyTooLong
            response.stream = Stream(response.stream)
            return response

    class Stream(httpx2.SyncByteStream):
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def close(self) -> None:
            self._stream.close()

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for part in self._stream:
                size += len(part)
                if size > MOST_REPLY_BYTES:
                    raise ReplyTooLong
                yield part

    return openai.OpenAI(
        base_url=url,
        api_key=key,
        timeout=timeout_seconds,
        max_retries=retries,
        # No proxies or settings from the environment, and nobody sends us on to another host.
        http_client=openai.DefaultHttpxClient(
            trust_env=False, follow_redirects=False, transport=Bounded()
        ),
    )


def completed(client: Any, noun: str, seconds: float, **asked: Any) -> Any | NoReply:
    """A completion, or why there is none; what the client makes of a broken one may quote it."""
    import openai

    try:
        reply = client.chat.completions.create(temperature=0, **asked)
        # Replies are kept; one that repeats the key would keep that. "none" is no key.
        repeated = client.api_key != "none" and client.api_key in str(reply)
        return NoReply(reason="its endpoint repeated the key") if repeated else reply
    except openai.APITimeoutError:
        return NoReply(reason=f"it gave no {noun} in {seconds:g} seconds")
    except openai.APIConnectionError as error:
        if isinstance(error.__cause__, ReplyTooLong):
            return NoReply(reason=TOO_LONG)
        return NoReply(reason="its endpoint could not be reached")
    except openai.APIStatusError as error:
        status = error.status_code
        return NoReply(reason=f"its endpoint answered with status {status}", status=status)
    except ReplyTooLong:
        return NoReply(reason=TOO_LONG)
    except Exception:
        return NoReply(reason=UNREADABLE)


def message_of(completion: Any) -> tuple[Any, str | None] | NoReply:
    """The message of a completion and why it ended, or that there is none, or a refusal."""
    choices = getattr(completion, "choices", None)
    if not isinstance(choices, list) or not choices:
        return NoReply(reason=UNREADABLE)
    message, finish = getattr(choices[0], "message", None), choices[0].finish_reason
    if getattr(message, "refusal", None) or finish == "content_filter":
        return NoReply(reason="it refused")
    return message, finish


def http_address(what: str, url: str, *, query: bool = False) -> SplitResult:
    """The parts of an http(s) address; raises ConfigError in the name of ``what``, without the address.

    A name, a password and, unless it may have one, a ``query`` are refused: they hold secrets, and
    addresses stand in trails and logs.
    """
    try:
        parts = urlsplit(url)
        secret = parts.username or parts.password or (parts.query and not query)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not secret:
            return parts
    except ValueError:
        pass
    without = "a name or password" if query else "a name, password or query"
    raise ConfigError(f"{what}: expected an http(s) address without {without} in it")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
