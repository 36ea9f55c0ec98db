"""Who may ask: a bearer token of the tokens file, and a host name that is really ours."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Collection, Sequence
from pathlib import Path

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from core.errors import ConfigError

OPEN_PATHS = ("/healthz", "/readyz", "/openapi.json")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_LEAST_CHARACTERS = 16


def read_tokens(path: Path) -> tuple[str, ...]:
    """The tokens of a file, one a line; a file that is not there is made with a fresh one.

    Raises ConfigError when it holds none, or one that could be guessed.
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
    tokens = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    if not tokens:
        raise ConfigError(f"{path}: expected a token a line, found none")
    if any(len(token) < _LEAST_CHARACTERS for token in tokens):
        raise ConfigError(f"{path}: a token is shorter than {_LEAST_CHARACTERS} characters")
    return tokens


class Guard:
    """Before an ASGI app: 401 without a token (no ``tokens``: nobody needs one), 421 for a strange host.

    A page in a browser that resolves its own name to this machine would otherwise be let in.
    """

    def __init__(self, app: ASGIApp, tokens: Sequence[str], hosts: Collection[str] | None) -> None:
        self._app, self._hosts = app, hosts
        self._tokens = [_digest(token) for token in tokens]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refused(headers, scope["path"])
        await (refused or self._app)(scope, receive, send)

    def _refused(self, headers: dict[bytes, str], path: str) -> JSONResponse | None:
        host = headers.get(b"host", "")
        if self._hosts is not None and _name(host) not in self._hosts:
            return _problem(421, "Misdirected Request", "this host name is not served here", {})
        if path in OPEN_PATHS or not self._tokens:
            return None
        kind, _, token = headers.get(b"authorization", "").partition(" ")
        # Every token is compared, so that the time tells nothing of which one was near.
        known = [hmac.compare_digest(_digest(token.strip()), each) for each in self._tokens]
        if kind.lower() == "bearer" and any(known):
            return None
        told = {"WWW-Authenticate": "Bearer"}
        return _problem(401, "Unauthorized", "a bearer token of the tokens file is needed", told)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host


def _problem(status: int, title: str, detail: str, headers: dict[str, str]) -> JSONResponse:
    document = {"title": title, "status": status, "detail": detail}
    return JSONResponse(document, status, headers, media_type="application/problem+json")
