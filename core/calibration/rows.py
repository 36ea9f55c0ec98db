"""Training rows as one small file: features and targets, without a word of any claim or source.

It lies beside a calibrator's weights, so that new labels can be added to what it was fitted on. The
file is an ``.npz`` of plain arrays, never unpickled; claims and traces are only numbered in it.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.errors import ComponentUnavailable, DamagedArtifact
from core.models.forest import DEFAULT_FOLDER
from core.records import Features

ROWS_FILE = "training_rows.npz"
SHIPPED_ROWS = DEFAULT_FOLDER / ROWS_FILE
FORMAT_VERSION = 1
KNOWN = "contradicted"  # 1, 0, and -1 where it is not known; files of earlier versions lack it
ARRAYS = ("card", "numeric", "categories", "trace", "target", "bad", "forced", "validation")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRow:
    """One judged claim: its features, the forest's target, and what its decision should be.

    ``supported_by_route`` is the target: the label is supported and the routed source is a right
    one. ``should_block`` is the claim's gold decision; ``forced`` says that something else than
    the probability blocks it already (III.7). ``contradicted`` is whether people found it so; None
    where that was not kept.
    """

    claim_id: str
    trace_id: str
    features: Features
    supported_by_route: bool
    should_block: bool
    forced: bool = False
    contradicted: bool | None = None
    held_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRows:
    """The rows of a file by their side of the split."""

    train: tuple[TrainingRow, ...]
    validation: tuple[TrainingRow, ...]


def write_training_rows(
    train: Sequence[TrainingRow], path: Path, validation: Sequence[TrainingRow] = ()
) -> None:
    """Write the rows to ``path``; the same rows give the same bytes.

    Raises ValueError when there are none or they do not all have the same features.
    """
    rows = [*train, *validation]
    if not rows:
        raise ValueError("there are no rows to write")
    categorical, numeric = list(rows[0].features.categorical), list(rows[0].features.numeric)
    for row in rows:
        found = row.features
        if found.categorical.keys() != set(categorical) or found.numeric.keys() != set(numeric):
            raise ValueError("the rows do not all have the same features")
    values = {
        name: sorted({row.features.categorical[name] for row in rows}) for name in categorical
    }
    places = {name: {value: at for at, value in enumerate(values[name])} for name in categorical}
    numbers: dict[str, int] = {}
    for row in rows:
        numbers.setdefault(row.trace_id, len(numbers))
    card = {"version": FORMAT_VERSION, "categorical": values, "numeric": numeric}
    arrays: dict[str, NDArray[np.generic]] = {
        "card": np.frombuffer(json.dumps(card).encode(), dtype=np.uint8),
        "numeric": np.array([[row.features.numeric[name] for name in numeric] for row in rows]),
        "categories": np.array(
            [
                [places[name][row.features.categorical[name]] for name in categorical]
                for row in rows
            ],
            dtype=np.int32,
        ).reshape(len(rows), len(categorical)),
        "trace": np.array([numbers[row.trace_id] for row in rows], dtype=np.int32),
        "target": np.array([row.supported_by_route for row in rows]),
        "bad": np.array([row.should_block for row in rows]),
        "forced": np.array([row.forced for row in rows]),
        "validation": np.arange(len(rows)) >= len(train),
        KNOWN: np.array(
            [-1 if row.contradicted is None else int(row.contradicted) for row in rows],
            dtype=np.int8,
        ),
    }
    path.write_bytes(_packed(arrays))


def read_training_rows(path: Path = SHIPPED_ROWS) -> KeptRows:
    """The rows of a file; claims and traces are named by their numbers in it.

    Raises ComponentUnavailable when there is no such file, DamagedArtifact when it is another one.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ComponentUnavailable(f"no training rows at {path}: {error.strerror}") from None
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            arrays = {name: found[name] for name in ARRAYS}
            if KNOWN in found.files:
                arrays[KNOWN] = found[KNOWN]
            else:
                arrays[KNOWN] = np.full(len(arrays["target"]), -1, dtype=np.int8)
        card = json.loads(arrays["card"].tobytes())
        if card["version"] != FORMAT_VERSION:
            raise DamagedArtifact(f"{path}: version: expected {FORMAT_VERSION}")
        rows = list(_rows(arrays, card["categorical"], card["numeric"]))
    except (ValueError, KeyError, IndexError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise DamagedArtifact(f"{path}: not a file of training rows: {error}") from None
    held = arrays["validation"].tolist()
    return KeptRows(
        train=tuple(row for row, validation in zip(rows, held, strict=True) if not validation),
        validation=tuple(row for row, validation in zip(rows, held, strict=True) if validation),
    )


def _rows(
    arrays: dict[str, NDArray[np.generic]], categorical: dict[str, list[str]], numeric: list[str]
) -> list[TrainingRow]:
    columns = [
        arrays[name].tolist()
        for name in ("numeric", "categories", "trace", "target", "bad", "forced", KNOWN)
    ]
    return [
        TrainingRow(
            claim_id=f"shipped-{number}",
            trace_id=f"shipped-trace-{trace}",
            features=Features(
                categorical={
                    name: values[place]
                    for (name, values), place in zip(categorical.items(), places, strict=True)
                },
                numeric=dict(zip(numeric, measured, strict=True)),
            ),
            supported_by_route=target,
            should_block=bad,
            forced=forced,
            contradicted=None if contradicted < 0 else bool(contradicted),
        )
        for number, (measured, places, trace, target, bad, forced, contradicted) in enumerate(
            zip(*columns, strict=True), 1
        )
    ]


def _packed(arrays: dict[str, NDArray[np.generic]]) -> bytes:
    """An .npz file whose bytes hold no time of writing, unlike numpy's own."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in (*ARRAYS, KNOWN):
            array = io.BytesIO()
            np.lib.format.write_array(array, arrays[name], allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, array.getvalue())
    return stream.getvalue()
