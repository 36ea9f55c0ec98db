"""What an uploaded file is called on this machine."""

from __future__ import annotations

import re


def safe_name(given: str) -> str:
    """A file name without folders or odd characters, still the one that its owner knows."""
    last = re.split(r"[\\/]", given)[-1]
    return re.sub(r"[^\w.\- ]", "_", last)[-120:].lstrip(". ") or "file"
