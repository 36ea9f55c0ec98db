"""Models whose answers are kept by content: what is read again is not computed again.

A kept vector or reading is the one that the model gave, bit for bit, so that no verdict hangs on
whether it was kept. On disk it stands under everything that could change it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import ComponentUnavailable
from core.identity import rules_digest
from core.ports import Embedder, PairReader, ReadsClose, taught_close
from core.records import PairReading, Probabilities, Span, TokenScore

BATCH = 128  # so that little is lost when a long reading is stopped
MOST_BYTES = 1 << 30
FILE = "readings.db"
IN_MEMORY_BYTES = 64 << 20
_ASKED = 500  # keys in one statement
_PATIENCE_SECONDS = 60.0  # for another process that holds the file


class Shelf(Protocol):
    """Bytes by the digest of what they were computed from."""

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Those of the keys that are kept."""
        ...

    def put(self, pairs: Iterable[tuple[str, bytes]]) -> None:
        """Keep all pairs."""
        ...


class MemoryShelf:
    """The latest values within ``most_bytes``; the one that was asked for longest ago makes room."""

    def __init__(self, most_bytes: int = IN_MEMORY_BYTES) -> None:
        self.most_bytes, self.bytes = most_bytes, 0
        self._values: OrderedDict[str, bytes] = OrderedDict()
        self._changing = threading.Lock()

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Those of the keys that are kept."""
        with self._changing:
            found = {key: self._values[key] for key in keys if key in self._values}
            for key in found:
                self._values.move_to_end(key)
        return found

    def put(self, pairs: Iterable[tuple[str, bytes]]) -> None:
        """Keep all pairs."""
        with self._changing:
            for key, value in pairs:
                self.bytes += len(value) - len(self._values.pop(key, b""))
                self._values[key] = value
            while self.bytes > self.most_bytes:
                _, gone = self._values.popitem(last=False)
                self.bytes -= len(gone)


class FileShelf:
    """Values in one SQLite file that several processes may share.

    ``identity`` names what the values were computed by: a file of another identity is emptied.
    ``most_bytes`` of values are kept; those that were asked for longest ago make room.
    """

    def __init__(
        self, path: Path, *, identity: str | None = None, most_bytes: int | None = None
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path, self._most, self._using = path, most_bytes, threading.Lock()
        path.touch(mode=0o600)  # a digest tells nothing, but a vector may tell of a patient
        self._rows = sqlite3.connect(path, timeout=_PATIENCE_SECONDS, check_same_thread=False)
        try:
            self._set_up_at_last(identity)
        except sqlite3.DatabaseError as error:
            raise ComponentUnavailable(f"{path}: not a file of kept readings: {error}") from None

    def _set_up_at_last(self, identity: str | None) -> None:
        """Set up, again while another worker does: SQLite waits for no change of the journal's mode."""
        patient_until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return self._set_up(identity)
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > patient_until:
                    raise
                time.sleep(0.01)

    def _set_up(self, identity: str | None) -> None:
        self._rows.execute("PRAGMA journal_mode=WAL")
        with self._rows:
            # Several workers open a new file at once: the second waits, and finds the column there.
            self._rows.execute("BEGIN IMMEDIATE")
            self._rows.execute("CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value BLOB)")
            if identity is None and self._most is None:
                return
            self._rows.execute("CREATE TABLE IF NOT EXISTS made_by (identity TEXT)")
            columns = [row[1] for row in self._rows.execute("PRAGMA table_info(kept)")]
            if "used" not in columns:
                self._rows.execute("ALTER TABLE kept ADD COLUMN used INTEGER DEFAULT 0")
                self._rows.execute("CREATE INDEX IF NOT EXISTS by_use ON kept (used)")
        with self._rows:
            self._rows.execute("BEGIN IMMEDIATE")
            found = self._rows.execute("SELECT identity FROM made_by").fetchone()
            if found != (identity,):
                self._rows.execute("DELETE FROM kept")
                self._rows.execute("DELETE FROM made_by")
                self._rows.execute("INSERT INTO made_by VALUES (?)", (identity,))

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Those of the keys that are kept."""
        found: dict[str, bytes] = {}
        with self._using:
            for start in range(0, len(keys), _ASKED):
                part = list(keys[start : start + _ASKED])
                marks = ",".join("?" * len(part))
                asked = f"SELECT key, value FROM kept WHERE key IN ({marks})"
                found.update((key, bytes(value)) for key, value in self._rows.execute(asked, part))
            if found and self._most is not None:
                with self._rows:
                    used = "UPDATE kept SET used = (SELECT max(used) + 1 FROM kept) WHERE key = ?"
                    self._rows.executemany(used, [(key,) for key in found])
        return found

    def put(self, pairs: Iterable[tuple[str, bytes]]) -> None:
        """Keep all pairs in one transaction."""
        with self._using, self._rows:
            if self._most is None:
                told = "INSERT OR REPLACE INTO kept (key, value) VALUES (?, ?)"
                self._rows.executemany(told, pairs)
                return
            told = (
                "INSERT OR REPLACE INTO kept (key, value, used) "
                "VALUES (?, ?, (SELECT coalesce(max(used), 0) + 1 FROM kept))"
            )
            self._rows.executemany(told, pairs)
            self._make_room(self._most)

    def _make_room(self, most_bytes: int) -> None:
        """Drop what was asked for longest ago until the pages in use hold ``most_bytes`` at most."""
        (page_bytes,) = self._rows.execute("PRAGMA page_size").fetchone()
        while True:
            (pages,) = self._rows.execute("PRAGMA page_count").fetchone()
            (free,) = self._rows.execute("PRAGMA freelist_count").fetchone()
            if (pages - free) * page_bytes <= most_bytes:
                return
            oldest = "SELECT key FROM kept ORDER BY used LIMIT 256"
            if not self._rows.execute(f"DELETE FROM kept WHERE key IN ({oldest})").rowcount:
                return

    def close(self) -> None:
        """Let go of the file."""
        self._rows.close()


def keeping(models: Any, shelf: Shelf) -> Any:
    """The same models (``core.pipeline.Models``), which take from the shelf what was read before."""
    return replace(
        models,
        embedder=KeptEmbedder(models.embedder, shelf),
        reader=KeptReader(models.reader, shelf),
    )


def kept_in(folder: Path, models: Any) -> Any:
    """The same models with a bounded file of what they read in ``folder``, for any number of runs.

    The file is emptied when rules, weights or precision are others than those it was made by.
    """
    identity = run_identity(models)
    return keeping(models, FileShelf(folder / FILE, identity=identity, most_bytes=MOST_BYTES))


def run_identity(models: Any) -> str:
    """What vectors and readings of these models hang on: rules, weights, precision, processor.

    Another set of instructions sums in another order; the number of threads does not count, since no
    sum is shared among threads (core/models/lanes.py).
    """
    import torch

    reader, embedder = models.reader, models.embedder
    precision = getattr(embedder, "precision", "")
    named = (embedder.name, precision, reader.name, reader.precision, str(reader.max_tokens))
    return " ".join((rules_digest(), *named, torch.backends.cpu.get_cpu_capability()))


def _batches(items: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    waiting = iter(items)
    while part := tuple(islice(waiting, BATCH)):
        yield part


def _key(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


# Says what a kept reading holds: a file of an earlier shape is read anew, not misread.
_READING, _CLOSE_READING = "reading 2", "close reading 1"


class KeptEmbedder:
    """An embedder that computes each text once; fills ``core.ports.Embedder``."""

    def __init__(self, inner: Embedder, shelf: Shelf) -> None:
        self._inner, self._shelf = inner, shelf
        self.name, self.max_tokens = inner.name, inner.max_tokens

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Unit vectors as the embedder gave them."""
        keys = {text: _key("vector", self.name, text) for text in texts}
        known = dict(self._shelf.get(list(keys.values())))
        missing = sorted((text for text, key in keys.items() if key not in known), key=len)
        for part in _batches(missing):
            made = [row.tobytes() for row in self._inner.embed(list(part))]
            new = [(keys[text], row) for text, row in zip(part, made, strict=True)]
            self._shelf.put(new)
            known.update(new)
        rows = [np.frombuffer(known[keys[text]], dtype=np.float64) for text in texts]
        return np.stack(rows) if rows else self._inner.embed([])


class KeptReader:
    """A pair reader that reads each pair once; fills ``core.ports.PairReader``."""

    def __init__(self, inner: PairReader, shelf: Shelf) -> None:
        self._inner, self._shelf = inner, shelf
        self.name, self.precision, self.max_tokens = inner.name, inner.precision, inner.max_tokens
        self.taught_close = taught_close(inner)

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading | None]:
        """Readings as the reader gave them."""
        return self._kept(_READING, pairs, self._inner.read)

    def read_close(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading | None]:
        """The same of close premises, where the reader tells them apart."""
        if not isinstance(self._inner, ReadsClose):
            return self.read(pairs)
        return self._kept(_CLOSE_READING, pairs, self._inner.read_close)

    def _kept(
        self,
        kind: str,
        pairs: Sequence[tuple[str, str]],
        read: Callable[[Sequence[tuple[str, str]]], list[PairReading | None]],
    ) -> list[PairReading | None]:
        names = (self.name, self.precision, str(self.max_tokens))
        keys = {pair: _key(kind, *names, *pair) for pair in pairs}
        known = dict(self._shelf.get(list(keys.values())))
        missing = sorted(
            (pair for pair, key in keys.items() if key not in known),
            key=lambda pair: len(pair[0]) + len(pair[1]),
        )
        for part in _batches(missing):
            made = [_packed(reading) for reading in read(list(part))]
            new = [(keys[pair], value) for pair, value in zip(part, made, strict=True)]
            self._shelf.put(new)
            known.update(new)
        return [_unpacked(known[keys[pair]]) for pair in pairs]


def _packed(reading: PairReading | None) -> bytes:
    if reading is None:
        return b"null"
    said = asdict(reading.probabilities)
    sides = [
        [[token.span.start, token.span.end, token.score] for token in tokens]
        for tokens in (reading.tokens, reading.premise_tokens)
    ]
    return json.dumps([said, *sides, reading.premise_truncated]).encode()


def _unpacked(value: bytes) -> PairReading | None:
    found = json.loads(value)
    if found is None:
        return None
    said, tokens, premise_tokens, truncated = found
    return PairReading(
        probabilities=Probabilities(**said),
        tokens=_scores(tokens),
        premise_truncated=bool(truncated),
        premise_tokens=_scores(premise_tokens),
    )


def _scores(rows: Sequence[tuple[int, int, float]]) -> tuple[TokenScore, ...]:
    return tuple(
        TokenScore(span=Span(start=start, end=end), score=score) for start, end, score in rows
    )
