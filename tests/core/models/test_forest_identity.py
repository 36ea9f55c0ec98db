"""A calibrator's name is its content, and no header makes the program reserve what is not there."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from pathlib import Path

import pytest
from forests import a_calibrator

from core.errors import DamagedArtifact
from core.models.forest import load_forest

ARRAYS = ("roots", "feature", "threshold", "left", "right", "value")


def _seal(folder: Path) -> None:
    """The manifest of what is there now, as somebody would write it who changes an artifact."""
    names = ("calibrator.json", "trees.npz")
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    (folder / "manifest.json").write_text(json.dumps(digests))


@pytest.mark.parametrize("changed", [{"threshold": 0.01}, {"name": "forest-000000000000"}])
def test_a_name_that_is_not_that_of_the_content_is_refused(
    tmp_path: Path, changed: dict[str, object]
) -> None:
    a_calibrator(tmp_path)
    card = json.loads((tmp_path / "calibrator.json").read_text())
    (tmp_path / "calibrator.json").write_text(json.dumps(card | changed))
    _seal(tmp_path)

    with pytest.raises(DamagedArtifact, match="name"):
        load_forest(tmp_path)


def test_other_trees_under_the_same_card_are_refused(tmp_path: Path) -> None:
    a_calibrator(tmp_path / "one", above=0.9)
    a_calibrator(tmp_path / "two", above=1.0)
    (tmp_path / "one" / "trees.npz").write_bytes((tmp_path / "two" / "trees.npz").read_bytes())
    _seal(tmp_path / "one")

    with pytest.raises(DamagedArtifact, match="name"):
        load_forest(tmp_path / "one")


def test_thresholds_and_trees_that_differ_have_names_that_differ(tmp_path: Path) -> None:
    names = {
        a_calibrator(tmp_path / str(at), threshold=threshold, above=above)
        for at, (threshold, above) in enumerate([(0.5, 0.9), (0.6, 0.9), (0.5, 0.8)])
    }

    assert len(names) == 3
    assert load_forest(tmp_path / "0").name in names


def test_a_header_of_800_gigabytes_is_refused_before_anything_is_made_for_it(
    tmp_path: Path,
) -> None:
    a_calibrator(tmp_path)
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,), }"
    head += b" " * (118 - len(head) - 1) + b"\n"
    claims = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"\x00" * 64
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in ARRAYS:
            archive.writestr(f"{name}.npy", claims)
    (tmp_path / "trees.npz").write_bytes(stream.getvalue())
    _seal(tmp_path)

    with pytest.raises(DamagedArtifact, match="claims 800000000000 bytes"):
        load_forest(tmp_path)
