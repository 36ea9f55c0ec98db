"""Protocols: the roles that models and the database fill for the core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.records import (
    Against,
    ContradictedShare,
    EditorFailure,
    EditorText,
    EditRequest,
    Features,
    NliScore,
    ShownShare,
    Trace,
    Verification,
    WholePoint,
)
from core.records.judge import JudgeFailure, JudgeRequest, JudgeText


@runtime_checkable
class Embedder(Protocol):
    """Texts to unit vectors (III.3)."""

    name: str
    max_tokens: int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Unit vectors, shape (len(texts), d), rounded so that batch and order do not show."""
        ...


@runtime_checkable
class NliModel(Protocol):
    """(premise, claim) pairs to label probabilities and alignment vectors, in one pass (III.4)."""

    name: str
    precision: str
    max_tokens: int

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[NliScore | None]:
        """One reading a pair, in order; None where the claim alone exceeds the token budget.

        The premise is cut, never the claim. Probabilities and token scores are rounded to 4
        decimals and do not depend on which pairs share the call. Raises ComponentUnavailable.
        """
        ...


def taught_close(nli: object) -> bool:
    """Whether an NLI model, or the one that it stands for, was also taught to read the least that could
    show a claim: a few fields, one or two sentences."""
    return bool(getattr(nli, "taught_close", False))


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratorPolicy:
    """How a calibrator's probabilities are decided by; what a calibrator does not know stays empty.

    ``threshold`` decides; from ``review_from`` on a blocked claim needs a person; from ``whole`` on
    answers pass as a whole. ``shown`` and ``contradicted`` are what labels say of claims by what is
    found for and against them, ``base_rate`` the share of supported claims at which the probabilities
    are calibrated, ``nli`` the NLI model of the labelled claims.
    """

    threshold: float
    review_from: float | None = None
    whole: WholePoint | None = None
    shown: ShownShare | None = None
    contradicted: Mapping[Against, ContradictedShare] = field(default_factory=dict)
    base_rate: float | None = None
    nli: str | None = None


def policy_of(calibrator: Calibrator) -> CalibratorPolicy:
    """The policy that a calibrator states, else its threshold alone."""
    stated = getattr(calibrator, "policy", None)
    if isinstance(stated, CalibratorPolicy):
        return stated
    return CalibratorPolicy(threshold=calibrator.threshold)


@runtime_checkable
class Calibrator(Protocol):
    """Features to the probability that the routed source supports the claim (III.5)."""

    name: str
    threshold: float

    def probabilities(self, rows: Sequence[Features]) -> NDArray[np.float64]:
        """Shape (len(rows),), in [0, 1], rounded to 4 decimals; unseen categories encode as zeros."""
        ...


@runtime_checkable
class Editor(Protocol):
    """Rewords one claim from its premise (III.8); it never sees the rest of the trace."""

    name: str

    def rewrite(self, request: EditRequest) -> EditorText | EditorFailure:
        """A rewording that says only what the premise says, or why there is none; never raises."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Reads claims with their sources, and is asked at most once for what it replied to before.

    ``name`` holds the model, where it is served and a digest of the instructions: another of them is
    another judge.
    """

    name: str

    def judge(self, request: JudgeRequest) -> JudgeText | JudgeFailure:
        """The reply as it came, or why there is none; never raises."""
        ...


class Store(Protocol):
    """What the workflows ask of a database; records in, records out."""

    def files_of(self, trace_ids: Sequence[str]) -> Mapping[str, Mapping[str, str | None]]:
        """For each of these ids that is known: content hash → file, of every version of it."""
        ...

    def put_traces(self, traces: Iterable[Trace]) -> PutCount:
        """Keep traces by content hash; the same trace twice changes nothing."""
        ...

    def traces_without_run(self, run_key: str) -> Iterator[Trace]:
        """The newest version of each trace that has no verdict of that run key, in import order."""
        ...

    def put_verdicts(self, run_key: str, verdicts: Iterable[Verification]) -> None:
        """Keep verdicts, each on the trace version that its content hash names, in one transaction."""
        ...


class PutCount(Protocol):
    """How many traces were new, new versions of known ones, or already there."""

    new: int
    changed: int
    unchanged: int


class Progress(Protocol):
    """Told how far a long task is; the library itself prints nothing."""

    def __call__(self, done: int, total: int | None, what: str) -> None:
        """``done`` of ``total`` (None: unknown) units of ``what``."""
        ...
