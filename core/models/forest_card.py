"""The card of a calibrator artifact: what a forest file says of itself, checked field by field."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError, model_validator

from core.errors import DamagedArtifact, first_problem
from core.models.calibration_map import CalibrationMap
from core.models.heard import BEFORE, Heard
from core.records import Against, ContradictedShare, JsonObject, ShownShare, WholePoint

FORMAT = "provenanceguard-calibrator"
FORMAT_VERSION = 2  # 1: no calibration after the trees
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=0)]


class _Fields(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


class _Contradicted(_Fields):
    contradicted: Count
    claims: Count
    answers: Count
    low: Share
    high: Share

    @model_validator(mode="after")
    def _holds_its_share(self) -> _Contradicted:
        if not self.claims or not self.low <= self.contradicted / self.claims <= self.high:
            raise ValueError("expected an interval that holds its share")
        return self


class _Shown(_Fields):
    supported: Count
    claims: Count
    answers: Count

    @model_validator(mode="after")
    def _is_a_share(self) -> _Shown:
        if self.supported > self.claims:
            raise ValueError("expected no more supported than there are")
        return self


class _Heard(_Fields):
    close: Share
    shift: float
    reading: Share

    @model_validator(mode="after")
    def _leaves_the_rest(self) -> _Heard:
        if self.close + self.reading > 1.0:
            raise ValueError("expected weights that are together at most 1")
        return self


class _Whole(_Fields):
    threshold: Share
    bad: Count
    bad_passed: Count
    good: Count
    good_passed: Count

    @model_validator(mode="after")
    def _is_a_part(self) -> _Whole:
        if self.bad_passed > self.bad or self.good_passed > self.good:
            raise ValueError("expected no more passed than there are")
        return self


class _Calibration(_Fields):
    slope: Annotated[float, Field(gt=0.0)]
    intercept: float
    base: Annotated[float, Field(gt=0.0, lt=1.0)]
    claims: Count


class Told(_Fields):
    """How a forest decides beside its one threshold; older cards say less."""

    contradicted: dict[Annotated[Against, Strict(False)], _Contradicted] = {}
    shown: _Shown | None = None
    heard: _Heard | None = None
    whole_answers: _Whole | None = None
    calibration: _Calibration | None = None

    def against(self) -> dict[Against, ContradictedShare]:
        """How often claims were contradicted, by what spoke against them."""
        return {
            kind: ContradictedShare(**entry.model_dump())
            for kind, entry in self.contradicted.items()
        }

    def shown_share(self) -> ShownShare | None:
        """How often claims that a source's entry states whole were supported; None where uncounted."""
        return None if self.shown is None else ShownShare(**self.shown.model_dump())

    def weights(self) -> Heard:
        """What NLI scores weigh beside the trees; as they did before cards named it, where one does not."""
        return BEFORE if self.heard is None else Heard(**self.heard.model_dump())

    def calibration_map(self) -> CalibrationMap | None:
        """The map from score to probability; None for cards from before there was one."""
        return None if self.calibration is None else CalibrationMap(**self.calibration.model_dump())

    def whole_point(self) -> WholePoint | None:
        """From where on answers pass as a whole; None for a card without such a point."""
        return None if self.whole_answers is None else WholePoint(**self.whole_answers.model_dump())


class _Scaled(_Fields):
    name: str
    mean: float
    scale: Annotated[float, Field(gt=0.0)]


class Stored(Told):
    """The whole card of an artifact."""

    format: Literal["provenanceguard-calibrator"]
    format_version: Literal[1, 2]
    threshold: Share
    categorical: dict[str, list[str]]
    numeric: list[_Scaled]

    def encoding(self) -> Encoding:
        """How its features become columns."""
        return Encoding(
            categories=tuple((name, tuple(values)) for name, values in self.categorical.items()),
            numeric=tuple(one.name for one in self.numeric),
            means=tuple(one.mean for one in self.numeric),
            scales=tuple(one.scale for one in self.numeric),
        )

    @model_validator(mode="after")
    def _lists_nothing_twice(self) -> Stored:
        names = [one.name for one in self.numeric]
        for each in (names, *self.categorical.values()):
            if len(set(each)) < len(each):
                raise ValueError("categorical or numeric: something is listed twice")
        return self


C = TypeVar("C", bound=Told)


def read_card(kind: type[C], card: JsonObject, file: str) -> C:
    """The fields of a card, each checked; raises DamagedArtifact naming the first that is wrong."""
    try:
        return kind.model_validate(dict(card))
    except ValidationError as error:
        path, why = first_problem(error)
        raise DamagedArtifact(": ".join(part for part in (file, path, why) if part)) from None


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
