"""Boosted trees out of a JSON document, evaluated without a learning library.

A tree is a list of nodes ``[feature, threshold, left, right]``, or ``[value]`` for a leaf; a row goes
left where its feature is at most the threshold. What comes back is the sum of the leaves and the start.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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

    def total(self, seen: Mapping[str, float]) -> float:
        """The sum over all trees for what is seen; what is not named is 0."""
        row = [seen.get(name, 0.0) for name in self.features]
        return self.start + sum(_leaf(tree, row) for tree in self.trees)

    def says(self, seen: Mapping[str, float]) -> bool:
        """Whether the total reaches the threshold."""
        return self.total(seen) >= self.threshold


def _leaf(tree: Sequence[Node], row: Sequence[float]) -> float:
    node = tree[0]
    while len(node) > 1:
        node = tree[int(node[2] if row[int(node[0])] <= node[1] else node[3])]
    return node[0]


def read_trees(text: str, path: str) -> Trees:
    """Trees from their document; ConfigError names the file when it is another or damaged."""
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise ValueError(f"expected format {FORMAT}, found {document['format']!r}")
        made = Trees(
            features=tuple(str(name) for name in document["features"]),
            start=float(document["start"]),
            threshold=float(document["threshold"]),
            trees=tuple(
                tuple(tuple(float(value) for value in node) for node in tree)
                for tree in document["trees"]
            ),
        )
        for tree in made.trees:
            _check(tree, len(made.features))
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
