"""Records of a trace store, pulled over its public REST API into a file that the readers read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from core.capture.files import parse_record, read_records, write_json
from core.capture.values import at, text_in
from core.errors import BadRecord, ComponentUnavailable, ConfigError, InputError
from core.models.chat_client import is_loopback
from core.records import JsonObject
from core.site_config import site_config
from core.workflows.trace_stores import STORES, Asked, Store

if TYPE_CHECKING:
    import httpx

_TRIES = 5
_LONGEST_WAIT = 300.0  # seconds; who must wait longer comes back later
_BUSY = (429, 500, 502, 503, 504)
_OVERLAP = timedelta(seconds=1)  # stores cut times to milliseconds


class Pulled:
    """How many records were written, were there already, were not finished, or had no id."""

    def __init__(self, store: str) -> None:
        self.store = store
        self.written = self.known = self.unfinished = self.unreadable = 0
        self._headless: dict[str, bool] = {}

    def place(self, trace: str, outermost: bool) -> None:
        """Take in that a record of a trace is here, and whether it is the outermost one."""
        self._headless[trace] = self._headless.get(trace, True) and not outermost

    @property
    def headless(self) -> int:
        """How many traces are here without their outermost record."""
        return sum(self._headless.values())

    def document(self) -> dict[str, object]:
        """The counts by name."""
        names = ("store", "written", "known", "unfinished", "unreadable", "headless")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is pulled: of a store and its project what began at ``since`` (UTC without a zone) or later.

    ``resume``: from the last record of the file on, as a pull that broke off goes on.
    """

    store: str
    project: str | None
    since: datetime
    resume: bool = False


def pull(
    wanted: Wanted,
    out: Path,
    *,
    environment: Mapping[str, str] = os.environ,
    wait: Callable[[float], None] = time.sleep,
    progress: Callable[[int, int | None, str], None] | None = None,
) -> Pulled:
    """Append the wanted records that are not in ``out`` yet, page by page, as the store sent them.

    Raises ConfigError for a wrong setting or key, InputError for a file of something else,
    ComponentUnavailable where the store gives no readable page.
    """
    store = STORES[wanted.store]
    pulled = Pulled(wanted.store)
    known, last = _held(store, out, pulled)
    with _Client(wanted.store, store, environment, wait) as client:
        asked = Asked(client.project(wanted.project), _written(wanted.since), None, None)
        if wanted.resume and last is not None:
            asked = asked._replace(**_from(store, last))
        out.parent.mkdir(parents=True, exist_ok=True)
        with open(out, "a", encoding="utf-8", opener=_for_its_owner) as file:  # noqa: PTH123
            for page in client.pages(asked):
                lines = _new(store, page, known, pulled)
                file.write("".join(f"{write_json(record)}\n" for record in lines))
                file.flush()
                pulled.written += len(lines)
                if progress:
                    progress(pulled.written, None, "records")
    return pulled


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)  # traces may be patient data


def _new(store: Store, page: list[object], known: set[str], pulled: Pulled) -> list[JsonObject]:
    """The records of a page that are to be written; the others are counted."""
    lines = []
    for record in page:
        identity = text_in(record, "id") if isinstance(record, Mapping) else None
        if not isinstance(record, Mapping) or identity is None:
            pulled.unreadable += 1
        elif identity in known:
            pulled.known += 1
        elif record.get(store.ended) is None and record.get("type") != "EVENT":
            pulled.unfinished += 1  # its output is not there yet
        else:
            known.add(identity)
            _place(store, record, pulled)
            lines.append(record)
    return lines


def _place(store: Store, record: JsonObject, pulled: Pulled) -> None:
    trace = str(at(record, *store.trace))
    outermost = not record.get(store.parent) or record.get("isRootObservation") is True
    pulled.place(trace, outermost)


def _held(store: Store, out: Path, pulled: Pulled) -> tuple[set[str], JsonObject | None]:
    """The ids in the file and its last record; a line that was cut off is taken away."""
    known: set[str] = set()
    last: JsonObject | None = None
    if not out.exists() or not out.stat().st_size:
        return known, last
    _cut_back(out)
    for record in read_records(out, site_config().max_record_bytes):
        if isinstance(record, InputError):
            raise record
        value = record.value
        identity = text_in(value, "id") if isinstance(value, Mapping) else None
        if not isinstance(value, Mapping) or identity is None or at(value, *store.trace) is None:
            raise BadRecord("this is no record of that store", file=out.name, line=record.line)
        known.add(identity)
        _place(store, value, pulled)
        last = value
    return known, last


def _cut_back(out: Path) -> None:
    """Take away the rest of a line that a killed pull did not finish."""
    with out.open("rb+") as file:
        size = end = file.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - 65_536)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0 or not start:
                if start + found + 1 < size:
                    file.truncate(start + found + 1)
                return
            end = start


def _from(store: Store, last: JsonObject) -> dict[str, str]:
    """From where a listing goes on that ended with this record: newer ones were listed before it."""
    if store.continues_by_id:
        return {"cursor": str(last["id"])}
    try:
        began = datetime.fromisoformat(str(last[store.began]))
    except (KeyError, ValueError):
        raise BadRecord("the last record says not when it began; pull without --resume") from None
    return {"until": _written(began + _OVERLAP)}


def _written(moment: datetime) -> str:
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return zoned.astimezone(UTC).isoformat().replace("+00:00", "Z")


class _Client:
    """Asks one store; keys go into its headers and nowhere else."""

    def __init__(
        self,
        name: str,
        store: Store,
        environment: Mapping[str, str],
        wait: Callable[[float], None],
    ) -> None:
        self._name, self._store, self._wait = name, store, wait
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

    def __enter__(self) -> _Client:
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
        found = self._read(self._store.projects(given))
        listed = found if isinstance(found, list) else at(found, "data")
        for one in listed if isinstance(listed, list) else []:
            if given in (at(one, "id"), at(one, "name")):
                return str(at(one, "id"))
        raise ConfigError(f"--project: this key of {self._name} knows no project {given!r:.80}")

    def pages(self, asked: Asked) -> Iterator[list[object]]:
        """The records, a page at a time, the newest first."""
        seen = {asked.cursor}
        while True:
            page = self._read(self._store.ask(asked))
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

    def _read(self, request: dict[str, Any]) -> object:
        """The JSON value of an answer; asks again where the store is busy, after the time it names."""
        import httpx

        for left in reversed(range(_TRIES)):
            try:
                with self._http.stream(**request) as response:
                    status, headers = response.status_code, response.headers
                    data = self._body(response) if status == 200 else b""
            except httpx.HTTPError as error:
                if left and not isinstance(error, httpx.ConnectError):  # tried several times
                    self._wait(float(2 ** (_TRIES - left - 1)))
                    continue
                raise ComponentUnavailable(
                    f"{self._name} could not be reached ({type(error).__name__})"
                ) from None
            if status == 200:
                try:
                    return parse_record(data)[0]
                except BadRecord as error:
                    raise self._broken(error.message) from None
            seconds = _seconds(headers.get("Retry-After"), 2.0 ** (_TRIES - left - 1))
            if status not in _BUSY or not left or seconds > _LONGEST_WAIT:
                break
            self._wait(seconds)
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
            f"{self._name} sent a page that cannot be read: {why}; the pages before it are kept"
        )


def _check_address(variable: str, url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.password:
        raise ConfigError(
            f"{variable}: expected an http(s) address without a name or password in it"
        )
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
