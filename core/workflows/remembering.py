"""Models that remember: a revised answer shares its sources and most sentences with the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.pipeline import Models
from core.ports import Embedder, PairReader, ReadsClose, taught_close
from core.records import (
    PairReading,
)


def remembering(models: Models) -> Models:
    """The same models, which read no text and no pair twice; results stay what they were."""
    if isinstance(models.reader, _RememberingReader):
        return models
    return replace(
        models,
        embedder=_RememberingEmbedder(models.embedder),
        reader=_RememberingReader(models.reader),
    )


class _RememberingEmbedder:
    """An embedder with the vectors of all texts that it has seen."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.max_tokens = embedder.name, embedder.max_tokens
        self._embedder, self._seen = embedder, dict[str, NDArray[np.float64]]()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Unit vectors, shape (len(texts), d)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._seen]
        if new:
            self._seen.update(zip(new, self._embedder.embed(new), strict=True))
        return np.stack([self._seen[text] for text in texts])


class _RememberingReader:
    """A pair reader with the readings of all pairs that it has seen."""

    def __init__(self, reader: PairReader) -> None:
        self.name, self.precision = reader.name, reader.precision
        self.max_tokens, self._reader = reader.max_tokens, reader
        self.taught_close = taught_close(reader)
        self._seen = dict[tuple[str, str], PairReading | None]()
        self._close = dict[tuple[str, str], PairReading | None]()

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading | None]:
        """One reading a pair, in order."""
        return _remembered(pairs, self._seen, self._reader.read)

    def read_close(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading | None]:
        """The same of close premises, where the reader tells them apart."""
        if not isinstance(self._reader, ReadsClose):
            return self.read(pairs)
        return _remembered(pairs, self._close, self._reader.read_close)


def _remembered(
    pairs: Sequence[tuple[str, str]],
    seen: dict[tuple[str, str], PairReading | None],
    read: Callable[[Sequence[tuple[str, str]]], list[PairReading | None]],
) -> list[PairReading | None]:
    new = [pair for pair in dict.fromkeys(pairs) if pair not in seen]
    if new:
        seen.update(zip(new, read(new), strict=True))
    return [seen[pair] for pair in pairs]
