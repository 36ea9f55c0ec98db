"""The card of a calibrator artifact: what a forest file says of itself, checked field by field."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.errors import DamagedArtifact
from core.models.heard import BEFORE, Heard
from core.records import Against, ContradictedShare, JsonObject, ShownShare, WholePoint


class Card:
    """Fields of calibrator.json, each checked; a wrong one is named in the error."""

    def __init__(self, card: JsonObject, file: str) -> None:
        self.card, self.file = card, file

    def fail(self, name: str, message: str) -> DamagedArtifact:
        return DamagedArtifact(f"{self.file}: {name}: {message}")

    def expect(self, name: str, value: object) -> None:
        if self.card.get(name) != value:
            raise self.fail(name, f"expected {value!r}, found {self.card.get(name)!r}")

    def number(self, name: str, value: object) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            raise self.fail(name, f"expected a finite number, found {value!r}")
        return float(value)

    def share(self, name: str) -> float:
        value = self.number(name, self.card.get(name))
        if not 0.0 <= value <= 1.0:
            raise self.fail(name, f"expected a number in [0, 1], found {value!r}")
        return value

    def counts(self, at: str, entry: Mapping[str, object], *keys: str) -> dict[str, int]:
        """Whole numbers of an entry, none of them below 0."""
        found = {key: entry.get(key) for key in keys}
        if not all(type(count) is int and count >= 0 for count in found.values()):
            raise self.fail(at, f"expected whole numbers, found {found!r}")
        return found  # type: ignore[return-value]

    def kinds(self, name: str) -> dict[str, float]:
        """The threshold of every kind of source that has one; a card without them has none."""
        found: dict[str, float] = {}
        for kind, entry in self.table(name).items():
            threshold = self.number(f"{name}.{kind}.threshold", entry.get("threshold"))
            if not 0.0 <= threshold <= 1.0:
                raise self.fail(f"{name}.{kind}", f"expected a number in [0, 1], found {threshold}")
            found[kind] = threshold
        return found

    def contradicted(self, name: str) -> dict[Against, ContradictedShare]:
        """How often claims were contradicted, by what spoke against them."""
        found: dict[Against, ContradictedShare] = {}
        for kind, entry in self.table(name).items():
            if kind not in set(Against):
                raise self.fail(f"{name}.{kind}", f"expected one of {', '.join(Against)}")
            at = f"{name}.{kind}"
            counts = self.counts(at, entry, "contradicted", "claims", "answers")
            low, high = (self.number(f"{at}.{key}", entry.get(key)) for key in ("low", "high"))
            share = ContradictedShare(low=low, high=high, **counts)
            if not share.claims or not 0.0 <= low <= share.share <= high <= 1.0:
                raise self.fail(at, "expected an interval in [0, 1] that holds its share")
            found[Against(kind)] = share
        return found

    def shown(self, name: str) -> ShownShare | None:
        """How often claims that a source's entry states whole were supported; None where uncounted."""
        entry = self.card.get(name)
        if entry is None:
            return None
        keys = ("supported", "claims", "answers")
        counts = [entry.get(key) for key in keys] if isinstance(entry, Mapping) else []
        whole = [count for count in counts if type(count) is int and count >= 0]
        if len(whole) != len(keys) or whole[0] > whole[1]:
            raise self.fail(name, f"expected counts of {', '.join(keys)}, found {entry!r:.60}")
        return ShownShare(supported=whole[0], claims=whole[1], answers=whole[2])

    def heard(self, name: str) -> Heard:
        """What readings weigh beside the trees; as they did before cards named it, where one does not."""
        entry = self.card.get(name)
        if entry is None:
            return BEFORE
        if not isinstance(entry, Mapping):
            raise self.fail(name, f"expected an object, found {entry!r:.60}")
        close, shift, reading = (
            self.number(f"{name}.{key}", entry.get(key)) for key in ("close", "shift", "reading")
        )
        if min(close, reading) < 0.0 or close + reading > 1.0:
            raise self.fail(name, "expected weights that are no less than 0 and together at most 1")
        return Heard(close=close, shift=shift, reading=reading)

    def whole(self, name: str) -> WholePoint | None:
        """From where on answers pass as a whole; None for a card without such a point."""
        entry = self.card.get(name)
        if entry is None:
            return None
        if not isinstance(entry, Mapping):
            raise self.fail(name, f"expected an object, found {entry!r:.60}")
        threshold = self.number(f"{name}.threshold", entry.get("threshold"))
        counts = self.counts(name, entry, "bad", "bad_passed", "good", "good_passed")
        point = WholePoint(threshold=threshold, **counts)
        most = point.bad_passed <= point.bad and point.good_passed <= point.good
        if not 0.0 <= threshold <= 1.0 or not most:
            raise self.fail(
                name, "expected a threshold in [0, 1] and no more passed than there are"
            )
        return point

    def table(self, name: str) -> dict[str, Mapping[str, object]]:
        """An object of objects, empty where the card has none."""
        value = self.card.get(name, {})
        if not isinstance(value, Mapping) or not all(
            isinstance(v, Mapping) for v in value.values()
        ):
            raise self.fail(name, f"expected an object of objects, found {value!r:.60}")
        return {str(key): entry for key, entry in value.items()}

    def encoding(self) -> Encoding:
        categorical = self.card.get("categorical")
        if not isinstance(categorical, Mapping):
            raise self.fail("categorical", f"expected an object, found {categorical!r}")
        categories: list[tuple[str, tuple[str, ...]]] = []
        for name, values in categorical.items():
            if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
                raise self.fail(f"categorical.{name}", "expected a list of texts")
            if len(set(values)) != len(values):
                raise self.fail(f"categorical.{name}", "a category is listed twice")
            categories.append((str(name), tuple(values)))
        numeric = self.card.get("numeric")
        if not isinstance(numeric, list):
            raise self.fail("numeric", f"expected a list, found {numeric!r}")
        names, means, scales = [], [], []
        for index, item in enumerate(numeric):
            at = f"numeric[{index}]"
            if not isinstance(item, Mapping) or not isinstance(item.get("name"), str):
                raise self.fail(at, "expected an object with a name")
            names.append(str(item["name"]))
            means.append(self.number(f"{at}.mean", item.get("mean")))
            scales.append(self.number(f"{at}.scale", item.get("scale")))
            if scales[-1] <= 0.0:
                raise self.fail(f"{at}.scale", f"expected more than 0, found {scales[-1]!r}")
        if len(set(names)) != len(names):
            raise self.fail("numeric", "a feature is listed twice")
        return Encoding(
            categories=tuple(categories),
            numeric=tuple(names),
            means=tuple(means),
            scales=tuple(scales),
        )


def read_bytes(path: Path) -> bytes:
    """A file; raises DamagedArtifact when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DamagedArtifact(f"{path}: {error.strerror or error}") from error


def read_checked(path: Path, recorded: object) -> bytes:
    """A file whose SHA-256 is the recorded one; raises DamagedArtifact."""
    data = read_bytes(path)
    found = hashlib.sha256(data).hexdigest()
    if found != recorded:
        raise DamagedArtifact(f"{path}: its SHA-256 is {found}, the manifest records {recorded!r}")
    return data


def read_object(data: bytes, path: Path) -> JsonObject:
    """A JSON object; raises DamagedArtifact."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DamagedArtifact(f"{path}: not JSON: {error}") from error
    if not isinstance(found, dict):
        raise DamagedArtifact(f"{path}: expected an object")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How features become columns: one-hot blocks in order of name, then scaled numbers."""

    categories: tuple[tuple[str, tuple[str, ...]], ...]
    numeric: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names: ``name=category`` for one-hot columns, the bare name for numbers."""
        hot = [f"{name}={value}" for name, values in self.categories for value in values]
        return (*hot, *self.numeric)
