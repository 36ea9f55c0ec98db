"""Models whose answers are kept on disk: an experiment that is run again reads nothing twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.ports import Embedder, PairReader
from core.records import PairReading, Probabilities, Span, TokenScore

BATCH = 128  # so that little is lost when a long reading is stopped


class Shelf:
    """Texts by their digest in one SQLite file."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._rows = sqlite3.connect(path, timeout=60.0, check_same_thread=False)
        self._rows.execute("PRAGMA journal_mode=WAL")
        self._rows.execute("CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value BLOB)")

    def get(self, key: str) -> bytes | None:
        """What was kept under the key."""
        found = self._rows.execute("SELECT value FROM kept WHERE key = ?", (key,)).fetchone()
        return None if found is None else bytes(found[0])

    def put(self, pairs: Iterator[tuple[str, bytes]]) -> None:
        """Keep all pairs in one transaction."""
        with self._rows:
            self._rows.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", pairs)


def _batches(items: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    waiting = iter(items)
    while part := tuple(islice(waiting, BATCH)):
        yield part


def _key(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


class KeptEmbedder:
    """An embedder that computes each text once; fills ``core.ports.Embedder``."""

    def __init__(self, inner: Embedder, shelf: Shelf) -> None:
        self._inner, self._shelf = inner, shelf
        self.name, self.max_tokens = inner.name, inner.max_tokens

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Unit vectors as the embedder gave them."""
        keys = {text: _key("vector", self.name, text) for text in texts}
        known = {text: self._shelf.get(key) for text, key in keys.items()}
        missing = sorted((t for t, found in known.items() if found is None), key=len)
        for part in _batches(missing):
            made = [row.tobytes() for row in self._inner.embed(list(part))]
            self._shelf.put((keys[text], row) for text, row in zip(part, made, strict=True))
            known.update(zip(part, made, strict=True))
        rows = [np.frombuffer(known[text] or b"", dtype=np.float64) for text in texts]
        return np.stack(rows) if rows else self._inner.embed([])


class KeptReader:
    """A pair reader that reads each pair once; fills ``core.ports.PairReader``."""

    def __init__(self, inner: PairReader, shelf: Shelf) -> None:
        self._inner, self._shelf = inner, shelf
        self.name, self.precision, self.max_tokens = inner.name, inner.precision, inner.max_tokens

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading | None]:
        """Readings as the reader gave them."""
        names = (self.name, self.precision, str(self.max_tokens))
        keys = {pair: _key("reading", *names, *pair) for pair in pairs}
        known = {pair: self._shelf.get(key) for pair, key in keys.items()}
        missing = sorted(
            (pair for pair, found in known.items() if found is None),
            key=lambda pair: len(pair[0]) + len(pair[1]),
        )
        for part in _batches(missing):
            made = [_packed(reading) for reading in self._inner.read(list(part))]
            self._shelf.put((keys[pair], value) for pair, value in zip(part, made, strict=True))
            known.update(zip(part, made, strict=True))
        return [_unpacked(known[pair] or b"null") for pair in pairs]


def _packed(reading: PairReading | None) -> bytes:
    if reading is None:
        return b"null"
    said = asdict(reading.probabilities)
    tokens = [[t.span.start, t.span.end, t.score] for t in reading.tokens]
    return json.dumps([said, tokens, reading.premise_truncated]).encode()


def _unpacked(value: bytes) -> PairReading | None:
    found = json.loads(value)
    if found is None:
        return None
    said, tokens, truncated = found
    return PairReading(
        probabilities=Probabilities(**said),
        tokens=tuple(
            TokenScore(span=Span(start=start, end=end), score=score) for start, end, score in tokens
        ),
        premise_truncated=bool(truncated),
    )
