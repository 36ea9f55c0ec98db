"""The packaged cues: what words say of polarity, direction, certainty, scope and status."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

LEXICONS = ("meaning.toml", "certainty.toml", "circumstance.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class CueEntry:
    """One entry of a lexicon with the example and the counter-example that its tests are made of."""

    feature: str
    value: str
    pattern: re.Pattern[str]
    form: str = ""
    group: str = ""
    claim_only: bool = False
    example: tuple[str, str] | None = None
    counter: tuple[str, str] | None = None


@lru_cache(maxsize=1)
def cue_entries() -> tuple[CueEntry, ...]:
    """Every entry of the packaged lexicons, in file order."""
    folder = resources.files("core.provenance.distortions").joinpath("lexicons")
    return tuple(
        _entry(row)
        for name in LEXICONS
        for row in tomllib.loads(folder.joinpath(name).read_text(encoding="utf-8"))["cue"]
    )


def _entry(row: dict[str, object]) -> CueEntry:
    words = str(row["words"]).replace(" ", r"\s")
    return CueEntry(
        feature=str(row["feature"]),
        value=str(row["value"]),
        pattern=re.compile(rf"(?<![\w-])(?:{words})(?![\w-])|(?<=\w)n['’]t\b" if "n['’]t" in words
                           else rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE),
        form=str(row.get("form", "")),
        group=str(row.get("group", "")),
        claim_only=bool(row.get("claim_only", False)),
        example=_pair(row.get("example")),
        counter=_pair(row.get("counter")),
    )  # fmt: skip


def _pair(value: object) -> tuple[str, str] | None:
    if not isinstance(value, list):
        return None
    source, claim = value
    return str(source), str(claim)
