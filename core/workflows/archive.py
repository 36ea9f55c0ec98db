"""A packet's folder as one zip file, and back into an empty folder."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path, PurePosixPath

from core.errors import UnreadableFile

MOST_BYTES = 4 * 1024**3  # unpacked: far beyond any packet, far below a zip bomb
MOST_FILES = 200_000
# The time in an entry is no fact about the packet; a fixed one makes equal folders equal archives.
ENTRY_TIME = (1980, 1, 1, 0, 0, 0)


def pack(folder: Path) -> bytes:
    """The files of a folder, zipped, in the order of their names."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), ENTRY_TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, path.read_bytes())
    return stream.getvalue()


def unpack(data: bytes, folder: Path, *, name: str) -> None:
    """Write a zip's files below ``folder``; raises UnreadableFile for anything that is no packet.

    Nothing is written outside of the folder, whatever the names in the archive say.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > MOST_FILES or sum(one.file_size for one in entries) > MOST_BYTES:
                raise UnreadableFile("unpacked, it would be too large for a packet", file=name)
            for entry in entries:
                target = folder.joinpath(*_parts(entry.filename, name))
                target.parent.mkdir(parents=True, exist_ok=True)
                # Read by its announced size: an archive that lies about it is cut off by zipfile.
                target.write_bytes(archive.read(entry))
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise UnreadableFile(f"cannot be unpacked ({type(error).__name__})", file=name) from None


def _parts(entry: str, name: str) -> tuple[str, ...]:
    path = PurePosixPath(entry)
    plain = all(part not in ("", ".", "..") and ":" not in part for part in path.parts)
    if path.is_absolute() or "\\" in entry or not path.parts or not plain:
        raise UnreadableFile("holds a file that would lie outside of it", file=name)
    return path.parts
