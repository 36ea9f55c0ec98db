"""The latest of something kept in memory, within a number and within bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Latest(Generic[K, V]):
    """Values by key; what was put or asked for longest ago makes room. Safe among threads."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._changing = threading.Lock()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: K) -> V | None:
        """The value, None when it is not kept (any more)."""
        with self._changing:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, size: int = 0) -> None:
        """Keep a value of ``size`` bytes; the newest is kept however large it is."""
        with self._changing:
            self._drop(key)
            self._kept[key] = (value, size)
            self.bytes += size
            while len(self._kept) > 1 and (
                len(self._kept) > self._most or self.bytes > self._most_bytes
            ):
                self._drop(next(iter(self._kept)))

    def drop(self, key: K, value: V) -> None:
        """Keep that value no longer, if it is what is kept under the key."""
        with self._changing:
            found = self._kept.get(key)
            if found is not None and found[0] is value:
                self._drop(key)

    def _drop(self, key: K) -> None:
        found = self._kept.pop(key, None)
        if found is not None:
            self.bytes -= found[1]
