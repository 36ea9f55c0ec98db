"""The support calibrator at run time: a random forest read from a safe artifact (III.5).

An artifact is a folder of three files that a person can read and nothing can execute:
``calibrator.json`` (features, encoding, threshold, metrics, where it came from), ``trees.npz``
(plain arrays, never unpickled) and ``manifest.json`` (the SHA-256 of the other two). It is
evaluated in numpy, so that running a verifier needs no scikit-learn.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.errors import ComponentUnavailable, ConfigError, DamagedArtifact
from core.models.forest_card import (
    FORMAT,
    FORMAT_VERSION,
    Encoding,
    Stored,
    Told,
    read_bytes,
    read_card,
    read_checked,
    read_object,
)
from core.models.heard import with_nli_scores
from core.ports import CalibratorPolicy
from core.records import (
    DISPUTED,
    DISPUTED_FROM,
    SHOWN_FEATURE,
    SHOWN_WRONG,
    VETOES_FEATURE,
    Against,
    ContradictedShare,
    Features,
    JsonObject,
    WholePoint,
)

Value = TypeVar("Value", str, float)

DEFAULT_FOLDER = Path(__file__).parent / "weights" / "calibrator"
ACCURATE_FOLDER = Path(__file__).parent / "weights" / "accurate_calibrator"
CARD_FILE, TREES_FILE, MANIFEST_FILE = "calibrator.json", "trees.npz", "manifest.json"
ARRAYS = ("roots", "feature", "threshold", "left", "right", "value")
ROW_BLOCK = 4_096
_NAMED = "forest-"
WHOLE, WHOLE_NAME = "whole_answers", "+whole"
ADJUSTED = "adjusted"  # the entry of a card whose calibration alone was moved
SHOWN = "shown"
NAME_DIGITS = 24  # of the digest, so that no two artifacts can be made to share a name
EARLIER_NAME_DIGITS = 12  # as artifacts were named before
MOST_ARRAY_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trees:
    """All trees end to end: node arrays of one length, and where each tree starts.

    A leaf has ``feature`` -1; ``left`` and ``right`` are places in the same arrays; ``value`` is
    the probability of class 1 at the node. Rows go left when ``column <= threshold``.
    """

    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float64]


class Forest:
    """A loaded artifact; fills ``core.ports.Calibrator``."""

    def __init__(
        self, encoding: Encoding, trees: Trees, threshold: float, card: JsonObject
    ) -> None:
        self.encoding, self.trees, self.card = encoding, trees, card
        self.threshold = threshold
        self.name = str(card.get("name", "forest"))
        # Calibrators from before there was a middle have none.
        found = card.get("review_from")
        self.review_from = float(found) if isinstance(found, int | float) else None
        self.told = read_card(Told, card, self.name)
        self.contradicted: Mapping[Against, ContradictedShare] = self.told.against()
        self.shown = self.told.shown_share()
        self.heard = self.told.weights()
        self.calibration = self.told.calibration_map()
        # From where on answers could pass as a whole; it decides as ``whole`` where that is asked for.
        self.whole_point = self.told.whole_point()
        self.whole: WholePoint | None = None
        self._depth = _depth(trees)

    @property
    def policy(self) -> CalibratorPolicy:
        """How its probabilities are decided by."""
        return CalibratorPolicy(
            threshold=self.threshold,
            review_from=self.review_from,
            whole=self.whole,
            shown=self.shown,
            contradicted=self.contradicted,
            base_rate=None if self.calibration is None else self.calibration.base,
            nli=self.nli,
        )

    @property
    def nli(self) -> str | None:
        """The name of the NLI model whose NLI scores it was fitted on; None when nobody wrote it down."""
        made_by = self.card.get("made_by")
        found = made_by.get("pair_reader") if isinstance(made_by, Mapping) else None
        return found if isinstance(found, str) else None

    def at(self, threshold: float, *, name: str) -> Forest:
        """The same trees with another threshold, under a name that tells the two apart."""
        other = Forest(self.encoding, self.trees, threshold, self.card)
        other.name = name
        return other

    def whole_answers(self) -> Forest:
        """The same trees, letting answers pass as a whole from the point on that labels gave.

        Raises ConfigError when there is none.
        """
        if self.whole_point is None:
            raise ConfigError(
                f"calibrator {self.name} has no point for whole answers: too few labels"
            )
        other = copy(self)
        other.name, other.whole = self.name + WHOLE_NAME, self.whole_point
        return other

    def probabilities(self, rows: Sequence[Features]) -> NDArray[np.float64]:
        """Shape (len(rows),), in [0, 1], to 4 decimals; unseen categories encode as zeros.

        The best of its NLI scores, and the close one of an NLI model that was taught it, are heard beside
        the trees; then comes the card's calibration. One that an entry of its source states whole is
        at least as probable as such claims were among the labelled ones, where the card has counted
        them, and one that a check vetoes has ``SHOWN_WRONG`` at most, or ``DISPUTED`` where all else
        speaks for it.
        """
        if not rows:
            return np.zeros(0)
        trees = self.exact_probabilities(encode(rows, self.encoding))
        score = np.round(with_nli_scores(trees, rows, self.heard), 4)
        found = score if self.calibration is None else np.round(self.calibration(score), 4)
        if self.shown is not None:
            shown = np.array([row.numeric.get(SHOWN_FEATURE, 0.0) >= 1.0 for row in rows])
            found = np.where(shown, np.maximum(found, round(self.shown.share, 4)), found)
        vetoed = np.array([row.numeric.get(VETOES_FEATURE, 0.0) >= 1.0 for row in rows])
        held = np.where(score < DISPUTED_FROM, np.minimum(found, SHOWN_WRONG), DISPUTED)
        return np.where(vetoed, held, found)

    def exact_probabilities(self, columns: NDArray[np.float32]) -> NDArray[np.float64]:
        """Unrounded mean over the trees for encoded rows, shape (n,); scikit-learn's to 1e-12."""
        parts = [
            self._mean_over_trees(columns[start : start + ROW_BLOCK])
            for start in range(0, len(columns), ROW_BLOCK)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _mean_over_trees(self, columns: NDArray[np.float32]) -> NDArray[np.float64]:
        trees = self.trees
        node = np.broadcast_to(trees.roots, (len(columns), len(trees.roots))).copy()
        row = np.arange(len(columns))[:, None]
        for _ in range(self._depth):
            feature = trees.feature[node]
            inner = feature >= 0
            goes_left = columns[row, np.where(inner, feature, 0)] <= trees.threshold[node]
            child = np.where(goes_left, trees.left[node], trees.right[node])
            node = np.where(inner, child, node)
        # Summed tree by tree, so that the result does not depend on how rows are batched.
        running = np.add.accumulate(trees.value[node], axis=1)
        return np.asarray(running[:, -1] / len(trees.roots), dtype=np.float64)


def encode(rows: Sequence[Features], encoding: Encoding) -> NDArray[np.float32]:
    """Columns of the forest, shape (n, columns); unseen categories are zeros in their block.

    Raises DamagedArtifact when a feature that the forest was trained on is missing or not a number.
    """
    hot = {
        (name, value): place
        for place, (name, value) in enumerate(
            (name, value) for name, values in encoding.categories for value in values
        )
    }
    table = np.zeros((len(rows), len(hot) + len(encoding.numeric)))
    for at, row in enumerate(rows):
        for name, _ in encoding.categories:
            place = hot.get((name, _feature(row.categorical, name)))
            if place is not None:
                table[at, place] = 1.0
        for offset, name in enumerate(encoding.numeric):
            table[at, len(hot) + offset] = _feature(row.numeric, name)
    numbers = table[:, len(hot) :]
    if not np.isfinite(numbers).all():
        at, offset = (int(place[0]) for place in np.nonzero(~np.isfinite(numbers)))
        raise DamagedArtifact(
            f"calibrator input {at}: {encoding.numeric[offset]} is {numbers[at, offset]}"
        )
    table[:, len(hot) :] = (numbers - np.array(encoding.means)) / np.array(encoding.scales)
    return table.astype(np.float32)


def load_forest(folder: Path = DEFAULT_FOLDER) -> Forest:
    """The forest of an artifact folder.

    Raises ComponentUnavailable when there is none, DamagedArtifact naming the file and field when
    it is not the one that was recorded.
    """
    if not (folder / MANIFEST_FILE).is_file():
        raise ComponentUnavailable(f"no calibrator at {folder}: {MANIFEST_FILE} is missing")
    recorded = read_object(read_bytes(folder / MANIFEST_FILE), folder / MANIFEST_FILE)
    content = {
        name: read_checked(folder / name, recorded.get(name)) for name in (CARD_FILE, TREES_FILE)
    }
    card = read_object(content[CARD_FILE], folder / CARD_FILE)
    stored = read_card(Stored, card, str(folder / CARD_FILE))
    encoding = stored.encoding()
    trees = _trees(content[TREES_FILE], str(folder / TREES_FILE), len(encoding.columns))
    _check_name(card, trees, str(folder / CARD_FILE))
    return Forest(encoding, trees, stored.threshold, card)


def _check_name(card: JsonObject, trees: Trees, file: str) -> None:
    """A name is the digest of what decides: one that does not fit would stand for other verdicts."""
    name = card.get("name")
    digest = _trees_digest(trees, {key: value for key, value in card.items() if key != "name"})
    wanted = [_NAMED + digest[:digits] for digits in (NAME_DIGITS, EARLIER_NAME_DIGITS)]
    if name not in wanted:
        raise DamagedArtifact(f"{file}: name: its content is {wanted[0]}, found {name!r}")


def write_artifact(
    folder: Path, encoding: Encoding, trees: Trees, card: Mapping[str, object]
) -> str:
    """Write an artifact folder; returns the calibrator's name, a digest of its content."""
    folder.mkdir(parents=True, exist_ok=True)
    document: dict[str, object] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        **card,
        "categorical": {name: list(values) for name, values in encoding.categories},
        "numeric": [
            {"name": name, "mean": mean, "scale": scale}
            for name, mean, scale in zip(
                encoding.numeric, encoding.means, encoding.scales, strict=True
            )
        ],
    }
    document["name"] = f"{_NAMED}{_trees_digest(trees, document)[:NAME_DIGITS]}"
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    content = {CARD_FILE: text.encode(), TREES_FILE: _packed(trees)}
    for name, data in content.items():
        (folder / name).write_bytes(data)
    manifest = {name: hashlib.sha256(data).hexdigest() for name, data in content.items()}
    (folder / MANIFEST_FILE).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return str(document["name"])


def _feature(values: Mapping[str, Value], name: str) -> Value:
    try:
        return values[name]
    except KeyError:
        raise DamagedArtifact(
            f"calibrator input: the calibrator was trained on {name!r}, which this pipeline lacks"
        ) from None


def _packed(trees: Trees) -> bytes:
    """The arrays as an .npz file whose bytes hold no time of writing, unlike numpy's own."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ARRAYS:
            array = io.BytesIO()
            np.lib.format.write_array(array, getattr(trees, name), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, array.getvalue())
    return stream.getvalue()


# ---------------------------------------------------------------- reading an artifact


def _trees(data: bytes, file: str, columns: int) -> Trees:
    try:
        _check_sizes(data, file)
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in ARRAYS}
    except KeyError as error:
        raise DamagedArtifact(f"{file}: the array is missing: {error.args[0]}") from error
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise DamagedArtifact(f"{file}: not a file of plain arrays: {error}") from error
    for name, array in found.items():
        wanted = "f" if name in ("threshold", "value") else "i"
        if array.ndim != 1 or array.dtype.kind != wanted:
            raise DamagedArtifact(
                f"{file}: {name}: expected one row of {wanted}, found {array.dtype}"
            )
    trees = Trees(
        roots=found["roots"].astype(np.int32),
        feature=found["feature"].astype(np.int32),
        threshold=found["threshold"].astype(np.float64),
        left=found["left"].astype(np.int32),
        right=found["right"].astype(np.int32),
        value=found["value"].astype(np.float64),
    )
    _check_shape(trees, file, columns)
    return trees


def _check_sizes(data: bytes, file: str) -> None:
    """Refuse arrays that claim more than they hold, before anything is made for them."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if len({entry.filename for entry in entries}) < len(entries):
            raise DamagedArtifact(f"{file}: an array is there twice")
        if sum(entry.file_size for entry in entries) > MOST_ARRAY_BYTES:
            raise DamagedArtifact(f"{file}: holds more than {MOST_ARRAY_BYTES} bytes")
        for entry in entries:
            with archive.open(entry) as stream:
                version = np.lib.format.read_magic(stream)
                if version != (1, 0):
                    raise DamagedArtifact(f"{file}: {entry.filename}: another array format")
                shape, _, kind = np.lib.format.read_array_header_1_0(stream)
                claimed = math.prod(shape) * kind.itemsize
                if kind.hasobject or claimed != entry.file_size - stream.tell():
                    raise DamagedArtifact(
                        f"{file}: {entry.filename}: claims {claimed} bytes of numbers, and holds "
                        f"{max(0, entry.file_size - stream.tell())}"
                    )


def _check_shape(trees: Trees, file: str, columns: int) -> None:
    """Every walk must end: children lie after their parent, inside the arrays."""
    nodes = len(trees.feature)
    if not len(trees.roots):
        raise DamagedArtifact(f"{file}: roots: the forest has no trees")
    for name in ("threshold", "left", "right", "value"):
        if len(getattr(trees, name)) != nodes:
            raise DamagedArtifact(f"{file}: {name}: expected {nodes} nodes")
    if trees.roots.min() < 0 or trees.roots.max() >= nodes:
        raise DamagedArtifact(f"{file}: roots: a tree starts outside the arrays")
    if trees.feature.min() < -1 or trees.feature.max() >= columns:
        raise DamagedArtifact(f"{file}: feature: a node reads a column that does not exist")
    inner = np.nonzero(trees.feature >= 0)[0]
    for name in ("left", "right"):
        child = getattr(trees, name)[inner]
        if np.any(child <= inner) or np.any(child >= nodes):
            raise DamagedArtifact(f"{file}: {name}: a child does not come after its parent")
    if not np.isfinite(trees.threshold[inner]).all():
        raise DamagedArtifact(f"{file}: threshold: not a finite number")
    if not ((trees.value >= 0.0) & (trees.value <= 1.0)).all():
        raise DamagedArtifact(f"{file}: value: not a probability")


def _depth(trees: Trees) -> int:
    """Steps from the root to the deepest leaf of any tree."""
    depth, level = 0, trees.roots
    while True:
        level = level[trees.feature[level] >= 0]
        if not len(level):
            return depth
        depth += 1
        level = np.unique(np.concatenate([trees.left[level], trees.right[level]]))


def _trees_digest(trees: Trees, document: Mapping[str, object]) -> str:
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode())
    for name in ARRAYS:
        digest.update(getattr(trees, name).tobytes())
    return digest.hexdigest()
