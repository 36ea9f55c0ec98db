"""StoreClient: asks a trace store's public REST API, and waits as long as the store says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from core.capture.files import parse_record
from core.capture.values import at
from core.errors import BadRecord, ComponentUnavailable, ConfigError
from core.models.chat_client import http_address, is_loopback
from core.site_config import site_config
from core.workflows.trace_stores import STORES, Asked

if TYPE_CHECKING:
    import httpx

_TRIES = 5
_LONGEST_WAIT = 300.0  # seconds; who must wait longer comes back later
_BUSY = (429, 500, 502, 503, 504)


class StoreClient:
    """Asks one store; keys go into its headers and nowhere else."""

    def __init__(
        self,
        name: str,
        environment: Mapping[str, str],
        wait: Callable[[float], None],
    ) -> None:
        self._name, self._store, self._wait = name, STORES[name], wait
        store = self._store
        given = (environment.get(variable) for variable in store.address)
        url = next(filter(None, given), store.default)
        _check_address(store.address[0], url)
        given_keys = [environment.get(variable, "") for variable in store.keys]
        if store.needs_key and not all(given_keys):
            raise ConfigError(
                f"{name}: its key is read from {' and '.join(store.keys)}; not set here"
            )
        if not all(key.isascii() and key.isprintable() for key in given_keys):
            raise ConfigError(f"{' or '.join(store.keys)}: a key is printable ASCII")
        try:
            import httpx
        except ImportError as error:
            raise ComponentUnavailable(
                "the package httpx is not installed (pip install 'provenanceguard-workbench[pull]')"
            ) from error
        # No proxies or settings from the environment, and nobody sends a key on to another host.
        context = httpx.create_ssl_context()  # verifies; SSL_CERT_FILE names a site's own authority
        self._http = httpx.Client(
            base_url=url.rstrip("/"),
            timeout=60,
            follow_redirects=False,
            trust_env=False,
            transport=httpx.HTTPTransport(verify=context, retries=3, trust_env=False),
            **store.signed(environment),
        )

    def __enter__(self) -> StoreClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def project(self, given: str | None) -> str:
        """The project as the store's listing takes it; raises ConfigError for one it does not know."""
        if given is None and not self._store.needs_project:
            return ""
        if given is None:
            raise ConfigError(f"--project: {self._name} is asked for one project")
        if self._store.projects is None:
            return given
        found = self.answer(self._store.projects(given))
        listed = found if isinstance(found, list) else at(found, "data")
        for one in listed if isinstance(listed, list) else []:
            if given in (at(one, "id"), at(one, "name")):
                return str(at(one, "id"))
        raise ConfigError(f"--project: this key of {self._name} knows no project {given!r:.80}")

    def pages(self, asked: Asked) -> Iterator[list[object]]:
        """The records, a page at a time, the newest first."""
        seen = {asked.cursor}
        while True:
            page = self.answer(self._store.ask(asked))
            items, cursor = at(page, *self._store.items), at(page, *self._store.cursor)
            if not isinstance(items, list) or not isinstance(cursor, str | None):
                raise self._broken("no list of records is in it")
            yield items
            if not cursor:
                return
            if cursor in seen:
                raise self._broken("it leads back to a page that was read")
            seen.add(cursor)
            asked = asked._replace(cursor=cursor)

    def answer(self, request: dict[str, Any], *, absent: bool = False) -> object:
        """The JSON value of an answer, ``{}`` for none; asks again where the store is busy.

        ``absent``: None for what the store does not know (404), else ConfigError.
        """
        import httpx

        for left in reversed(range(_TRIES)):
            try:
                with self._http.stream(**request) as response:
                    status, headers = response.status_code, response.headers
                    data = self._body(response) if response.is_success else b""
            except httpx.HTTPError as error:
                if left and not isinstance(error, httpx.ConnectError):  # tried several times
                    self._wait(float(2 ** (_TRIES - left - 1)))
                    continue
                raise ComponentUnavailable(
                    f"{self._name} could not be reached ({type(error).__name__})"
                ) from None
            if 200 <= status < 300:
                return self._value(data, request["method"] == "GET")
            seconds = _seconds(headers.get("Retry-After"), 2.0 ** (_TRIES - left - 1))
            if status not in _BUSY or not left or seconds > _LONGEST_WAIT:
                break
            self._wait(seconds)
        if absent and status == 404:
            return None
        if status in (401, 403):
            variables = " and ".join(self._store.keys)
            raise ConfigError(f"{self._name} refused the key in {variables} (status {status})")
        if status in (400, 404, 422):
            raise ConfigError(
                f"{self._name} does not know {request['url']} or the project (status {status}); "
                f"its address is read from {self._store.address[0]}"
            )
        later = f"; it asks to wait {seconds:.0f} s" if status == 429 else ""
        raise ComponentUnavailable(f"{self._name} answered with status {status}{later}")

    def _value(self, data: bytes, needed: bool) -> object:
        if not data.strip() and not needed:
            return {}
        try:
            return parse_record(data)[0]
        except BadRecord as error:
            raise self._broken(error.message) from None

    def _body(self, response: httpx.Response) -> bytes:
        most, held, size = 4 * site_config().max_record_bytes, [], 0
        for piece in response.iter_bytes():
            size += len(piece)
            if size > most:
                raise self._broken(f"it has more than {most:,} bytes")
            held.append(piece)
        return b"".join(held)

    def _broken(self, why: str) -> ComponentUnavailable:
        return ComponentUnavailable(
            f"{self._name} sent a page that cannot be read: {why}; what came before is kept"
        )


def _check_address(variable: str, url: str) -> None:
    parts = http_address(variable, url)
    host = parts.hostname or ""
    if parts.scheme == "http" and not is_loopback(host):
        raise ConfigError(
            f"{variable}: {host} is not this machine, and a key goes there by https only"
        )


def _seconds(header: str | None, otherwise: float) -> float:
    """What Retry-After says, seconds or a date, as seconds from now."""
    if header is None:
        return otherwise
    if header.strip().isdecimal():
        return float(header.strip()[:9])
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return otherwise
