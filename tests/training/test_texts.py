"""The archive of texts: unpacked once, the same bytes for the same texts, no other bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from training import texts


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive of its own, and a folder of texts that are packed into it."""
    monkeypatch.setattr(texts, "ARCHIVE", tmp_path / "texts-1.tar.xz")
    monkeypatch.setattr(texts, "DIGEST", tmp_path / "texts-1.sha256")
    monkeypatch.setattr(texts, "UNPACKED", tmp_path / "unpacked")
    (tmp_path / "folder" / "pairs").mkdir(parents=True)
    (tmp_path / "folder" / "pairs" / "a.txt").write_text("S: Ein Öl.\n", encoding="utf-8")
    return tmp_path / "folder"


def test_packed_texts_come_back_and_the_same_texts_give_the_same_bytes(packed: Path) -> None:
    first = texts.pack(packed)
    (packed / "pairs" / "a.txt").touch()

    assert texts.pack(packed) == first
    unpacked = texts.text_folder.__wrapped__()
    assert (unpacked / "pairs" / "a.txt").read_text(encoding="utf-8") == "S: Ein Öl.\n"


def test_an_archive_of_other_bytes_is_not_unpacked(packed: Path) -> None:
    texts.pack(packed)
    texts.ARCHIVE.write_bytes(texts.ARCHIVE.read_bytes() + b"\0")

    with pytest.raises(ValueError, match="sha256"):
        texts.text_folder.__wrapped__()
    assert not texts.UNPACKED.exists()
