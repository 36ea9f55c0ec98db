"""Who may ask: a bearer token of the tokens file, and a host name that is really ours."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.errors import ConfigError

OPEN_PATHS = ("/healthz", "/readyz", "/openapi.json")
SCOPES = ("verify", "read", "admin")
_NEEDED = {"/metrics": ("admin",), "/v1/explain_claim": ("read", "verify")}  # else verify
MOST_AT_ONCE = 512  # requests; connections on which nothing was asked do not count
BODY_SECONDS = 60.0
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_LEAST_CHARACTERS = 16


def read_tokens(path: Path) -> Mapping[str, frozenset[str]]:
    """Token → what it is for, of a file with one a line; without such words it is for everything.

    A file that is not there is made with a fresh one. Raises ConfigError when it holds none, one that
    could be guessed, or a word that is none of `SCOPES`.
    """
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(32) + "\n")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: the tokens cannot be read: {error}") from None
    stated = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    tokens = {token: frozenset(scopes or SCOPES) for token, *scopes in stated}
    if not tokens:
        raise ConfigError(f"{path}: expected a token a line, found none")
    if any(len(token) < _LEAST_CHARACTERS for token in tokens):
        raise ConfigError(f"{path}: a token is shorter than {_LEAST_CHARACTERS} characters")
    if unknown := sorted(frozenset().union(*tokens.values()) - {*SCOPES}):
        raise ConfigError(
            f"{path}: {unknown[0]!r:.40}: expected {', '.join(SCOPES)} behind a token"
        )
    return tokens


class Guard:
    """Before an ASGI app: 401 without a token (no ``tokens``: nobody needs one), 403 where it is for
    something else, 421 for a strange host, 429 where too much is asked at once.

    A page in a browser that resolves its own name to this machine would otherwise be let in.
    """

    def __init__(
        self, app: ASGIApp, tokens: Mapping[str, frozenset[str]], hosts: Collection[str] | None
    ) -> None:
        self._app, self._hosts, self._at_once = app, hosts, 0
        self._tokens = [(_digest(token), scopes) for token, scopes in tokens.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refused(headers, scope["path"])
        if refused is not None:
            await refused(scope, receive, send)
            return
        self._at_once += 1
        try:
            await self._app(scope, _body_in_time(receive), send)
        finally:
            self._at_once -= 1

    def _refused(self, headers: dict[bytes, str], path: str) -> JSONResponse | None:
        host = headers.get(b"host", "")
        if self._hosts is not None and _name(host) not in self._hosts:
            return _problem(421, "Misdirected Request", "this host name is not served here", {})
        if path in OPEN_PATHS:
            return None
        if (refused := self._unknown(headers, path)) is not None:
            return refused
        if self._at_once >= MOST_AT_ONCE:
            told = {"Retry-After": "1"}
            return _problem(429, "Busy", "as much is asked as may be asked at once", told)
        return None

    def _unknown(self, headers: dict[bytes, str], path: str) -> JSONResponse | None:
        if not self._tokens:
            return None
        kind, _, token = headers.get(b"authorization", "").partition(" ")
        # Every token is compared, so that the time tells nothing of which one was near.
        given = _digest(token.strip())
        known = [scopes for each, scopes in self._tokens if hmac.compare_digest(given, each)]
        if kind.lower() != "bearer" or not known:
            told = {"WWW-Authenticate": "Bearer"}
            return _problem(
                401, "Unauthorized", "a bearer token of the tokens file is needed", told
            )
        needed = _NEEDED.get(path, ("verify",))
        if not known[0].intersection(needed):
            return _problem(403, "Forbidden", f"this token is not for {needed[0]}", {})
        return None


def _body_in_time(receive: Receive) -> Receive:
    """What a client sends; one that takes longer than `BODY_SECONDS` for its body has hung up."""
    until = time.monotonic() + BODY_SECONDS
    whole = False

    async def received() -> Message:
        nonlocal whole
        if whole:
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), until - time.monotonic())
        except TimeoutError:
            return {"type": "http.disconnect"}
        whole = not message.get("more_body", False)
        return message

    return received


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host


def _problem(status: int, title: str, detail: str, headers: dict[str, str]) -> JSONResponse:
    document = {"title": title, "status": status, "detail": detail}
    return JSONResponse(document, status, headers, media_type="application/problem+json")
