"""The texts that models are taught and measured with: one compressed file, unpacked where it is needed.

    python -m training.texts                 unpack (``make data``), and say where
    python -m training.texts --pack FOLDER   write the archive anew from a folder of such texts

They are original or made by generators that are gone from the code; the ``*.md`` files among them say
who wrote what, and how. The digest of the archive stands beside it: other bytes are not unpacked.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import shutil
import tarfile
import tempfile
from functools import cache
from pathlib import Path

ARCHIVE = Path(__file__).parent / "texts-1.tar.xz"
DIGEST = ARCHIVE.with_name("texts-1.sha256")
UNPACKED = Path(__file__).resolve().parents[1] / "build" / "training-texts"


@cache
def text_folder() -> Path:
    """The folder of all texts, unpacked where it is not there yet; raises ValueError for other bytes."""
    packed = ARCHIVE.read_bytes()
    digest = hashlib.sha256(packed).hexdigest()
    if digest != (recorded := DIGEST.read_text(encoding="ascii").strip()):
        raise ValueError(f"{ARCHIVE}: sha256 is {digest}, recorded {recorded}")
    folder = UNPACKED / digest[:12]
    if not folder.is_dir():
        UNPACKED.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=UNPACKED))
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(fresh, filter="data")
        try:
            fresh.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(fresh)
    return folder


def pack(folder: Path) -> str:
    """Write the archive of a folder and its digest, which comes back; the same texts, the same bytes."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:xz", preset=9, format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
                entry.size = path.stat().st_size
                with path.open("rb") as file:
                    archive.addfile(entry, file)
    ARCHIVE.write_bytes(written.getvalue())
    digest = hashlib.sha256(written.getvalue()).hexdigest()
    DIGEST.write_text(digest + "\n", encoding="ascii")
    return digest


def main() -> None:
    """Unpack, or pack."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pack", type=Path, metavar="FOLDER")
    if folder := parser.parse_args().pack:
        print(f"{ARCHIVE.name}: {pack(folder)}")
    else:
        print(text_folder())


if __name__ == "__main__":
    main()
