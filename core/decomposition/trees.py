"""Boosted trees out of a JSON document, evaluated without a learning library.

A tree is a list of nodes ``[feature, threshold, left, right]``, or ``[value]`` for a leaf; a row goes
left where its feature is at most the threshold. What comes back is the sum of the leaves and the start.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.errors import ConfigError

FORMAT = "provenanceguard-decomposition-trees"
Node = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """A fitted model; ``threshold`` is from which total on the answer is yes."""

    features: tuple[str, ...]
    start: float
    threshold: float
    trees: tuple[tuple[Node, ...], ...]
    _places: Mapping[str, int] = field(init=False, repr=False, compare=False)
    _flat: _Flat = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {name: at for at, name in enumerate(self.features)})
        object.__setattr__(self, "_flat", _flattened(self.trees))

    def totals(self, seen: Sequence[Mapping[str, float]]) -> list[float]:
        """The sum over all trees for each of what is seen; what is not named is 0."""
        if not seen:
            return []
        rows = np.zeros((len(seen), max(1, len(self.features))))
        for at, one in enumerate(seen):
            for name, value in one.items():
                if (place := self._places.get(name)) is not None:
                    rows[at, place] = value
        return [self.start + total for total in self._flat.sums(rows)]

    def total(self, seen: Mapping[str, float]) -> float:
        """The sum over all trees for what is seen."""
        return self.totals([seen])[0]

    def says(self, seen: Mapping[str, float]) -> bool:
        """Whether the total reaches the threshold."""
        return self.total(seen) >= self.threshold


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Flat:
    """All nodes end to end; a leaf leads to itself."""

    roots: NDArray[np.int64]
    feature: NDArray[np.int64]
    limit: NDArray[np.float64]
    sides: NDArray[np.int64]
    value: NDArray[np.float64]
    depth: int

    def sums(self, rows: NDArray[np.float64]) -> list[float]:
        at = np.broadcast_to(self.roots, (len(rows), len(self.roots)))
        across = np.arange(len(rows))[:, None]
        for _ in range(self.depth):
            right = rows[across, self.feature[at]] > self.limit[at]
            at = self.sides[at, right.astype(np.int64)]
        # One tree after the other, so that a sum does not depend on how numpy pairs its terms.
        return [math.fsum(row) for row in self.value[at].tolist()]


def _flattened(trees: Sequence[Sequence[Node]]) -> _Flat:
    roots: list[int] = []
    nodes: list[tuple[int, float, int, int, float]] = []
    depth = 0
    for tree in trees:
        base = len(nodes)
        roots.append(base)
        levels = [0] * len(tree)
        for at, node in enumerate(tree):
            if len(node) == 1:
                nodes.append((0, 0.0, base + at, base + at, node[0]))
                continue
            left, right = int(node[2]), int(node[3])
            levels[left] = levels[right] = levels[at] + 1
            nodes.append((int(node[0]), node[1], base + left, base + right, 0.0))
        depth = max(depth, *levels)
    return _Flat(
        roots=np.array(roots, dtype=np.int64),
        feature=np.array([node[0] for node in nodes], dtype=np.int64),
        limit=np.array([node[1] for node in nodes], dtype=np.float64),
        sides=np.array([node[2:4] for node in nodes], dtype=np.int64).reshape(-1, 2),
        value=np.array([node[4] for node in nodes], dtype=np.float64),
        depth=depth,
    )


def read_trees(text: str, path: str) -> Trees:
    """Trees from their document; ConfigError names the file when it is another or damaged."""
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise ValueError(f"expected format {FORMAT}, found {document['format']!r}")
        features = tuple(str(name) for name in document["features"])
        trees = tuple(
            tuple(tuple(float(value) for value in node) for node in tree)
            for tree in document["trees"]
        )
        for tree in trees:
            _check(tree, len(features))
        made = Trees(
            features=features,
            start=float(document["start"]),
            threshold=float(document["threshold"]),
            trees=trees,
        )
        if not all(map(math.isfinite, (made.start, made.threshold))):
            raise ValueError("expected finite numbers")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    return made


def _check(tree: Sequence[Node], features: int) -> None:
    """Raise ValueError where a node is malformed, or would not lead on to a later one."""
    if not tree:
        raise ValueError("expected a node in every tree")
    for place, node in enumerate(tree):
        if len(node) not in (1, 4) or not all(map(math.isfinite, node)):
            raise ValueError(f"expected a leaf or a branch of finite numbers, found {node!r}")
        if len(node) == 4 and not (
            0 <= node[0] < features and all(place < side < len(tree) for side in node[2:])
        ):
            raise ValueError(f"expected places further on, found {node!r}")
