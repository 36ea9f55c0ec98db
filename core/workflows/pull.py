"""Records of a trace store, pulled over its public REST API into a file that the readers read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.capture.files import read_whole_lines, write_json
from core.capture.values import at, text_in
from core.errors import BadRecord, InputError
from core.records import JsonObject
from core.site_config import site_config
from core.workflows.store_client import StoreClient
from core.workflows.trace_stores import STORES, Asked, Store

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
    with StoreClient(wanted.store, environment, wait) as client:
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
    """The ids in the file and its last record; of such a file a line that was cut off is taken away."""
    known: set[str] = set()
    last: JsonObject | None = None
    if not out.exists() or not out.stat().st_size:
        return known, last
    end = _whole(out)
    for record in read_whole_lines(out, end, site_config().max_record_bytes):
        if isinstance(record, InputError):
            raise record
        value = record.value
        identity = text_in(value, "id") if isinstance(value, Mapping) else None
        if not isinstance(value, Mapping) or identity is None or at(value, *store.trace) is None:
            raise BadRecord("this is no record of that store", file=out.name, line=record.line)
        known.add(identity)
        _place(store, value, pulled)
        last = value
    if last is None:
        raise BadRecord("holds no record of that store, and is left as it is", file=out.name)
    os.truncate(out, end)
    return known, last


def _whole(out: Path) -> int:
    """The bytes of its whole lines: a killed pull leaves one that is none."""
    with out.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - 65_536)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end = start
    return 0


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
