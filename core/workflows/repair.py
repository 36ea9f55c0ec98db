"""Repair from verdict to figures: what a verdict tells of it, what it really saved, and what many did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Protocol

from core.codec import PROPOSAL
from core.config import Config
from core.identity import rules_digest, unread
from core.pipeline import Models, verify, versions
from core.ports import Editor, Progress
from core.records import (
    ClaimType,
    ClaimVerdict,
    Decision,
    JsonObject,
    Repair,
    RepairKind,
    RepairOutcome,
    RepairSavings,
    RepairStatus,
    Trace,
    VerdictLabel,
    Verification,
    Versions,
)
from core.repair.edits import share_of_words_kept
from core.repair.loop import Settled, overruled, repair_answer, with_labels
from core.review.adjudication import passes
from core.review.records import Judgement
from core.text.tokens import content_terms, overlap
from core.workflows.cache import remembering
from core.workflows.gate import credited_wrongly
from core.workflows.verify import Judge

# A wrongly credited claim is found again in a revised answer by most of its words.
SAME_CLAIM = 0.6


@dataclass(slots=True, kw_only=True)
class RepairReport:
    """What repairing many answers did: the paper's Tables 9, 19 and 20, and what was really saved.

    ``words_kept`` has one share for each repaired answer; ``by_editor`` counts rewordings by who
    wrote them, ``editor_failures`` those that a configured model should have written.
    """

    statuses: Counter[RepairStatus] = field(default_factory=Counter)
    kinds: Counter[RepairKind] = field(default_factory=Counter)
    by_editor: Counter[str] = field(default_factory=Counter)
    editor_failures: int = 0
    supported_before: int = 0
    supported_kept: int = 0
    wrong_attributions_before: int = 0
    wrong_attributions_left: int = 0
    words_kept: list[float] = field(default_factory=list)
    rounds: int = 0

    def add(self, repair: RepairOutcome) -> None:
        """Count one repair."""
        self.statuses[repair.status] += 1
        if repair.status in (RepairStatus.NOT_NEEDED, RepairStatus.UNAVAILABLE):
            return
        self.kinds.update(action.kind for action in repair.actions)
        self.by_editor.update(
            action.editor for action in repair.actions if action.kind is RepairKind.REWORD
        )
        self.editor_failures += sum(action.note is not None for action in repair.actions)
        self.rounds += repair.rounds
        self.supported_before += repair.saved.supported_before
        self.supported_kept += repair.saved.supported_kept
        self.wrong_attributions_before += repair.saved.wrong_attributions_before
        self.wrong_attributions_left += repair.saved.wrong_attributions_left
        if repair.saved.words_kept is not None:
            self.words_kept.append(repair.saved.words_kept)

    def merge(self, other: RepairReport) -> None:
        """Count what another report counted as well."""
        for each in fields(self):
            counted = getattr(self, each.name)
            counted += getattr(other, each.name)
            setattr(self, each.name, counted)

    @property
    def rows(self) -> int:
        """Answers seen."""
        return sum(self.statuses.values())

    @property
    def blocked(self) -> int:
        """Answers that were blocked before repair."""
        kept_out = (RepairStatus.NOT_NEEDED, RepairStatus.UNAVAILABLE)
        return self.rows - sum(self.statuses[status] for status in kept_out)

    @property
    def resolved(self) -> int:
        """Blocked answers whose proposed text passes the verifier, fallbacks among them."""
        return (
            self.blocked
            - self.statuses[RepairStatus.MARKED]
            - self.statuses[RepairStatus.UNRESOLVED]
        )

    @property
    def substantive(self) -> int:
        """Resolved answers that still say something."""
        return self.resolved - self.statuses[RepairStatus.FALLBACK]

    def document(self) -> JsonObject:
        """The figures as JSON; a share of nothing is null with a reason beside it, never 0."""
        document: dict[str, object] = {
            "state": PROPOSAL,
            "rows": self.rows,
            "pre_allow": self.statuses[RepairStatus.NOT_NEEDED],
            "pre_block": self.blocked,
            "unavailable": self.statuses[RepairStatus.UNAVAILABLE],
            "repair_resolved": self.resolved,
            "substantive": self.substantive,
            "corrected": self.statuses[RepairStatus.CORRECTED],
            "pruned": self.statuses[RepairStatus.PRUNED],
            "marked": self.statuses[RepairStatus.MARKED],
            "terminal_fallback": self.statuses[RepairStatus.FALLBACK],
            "unresolved": self.statuses[RepairStatus.UNRESOLVED],
            "actions": {kind.value: self.kinds[kind] for kind in RepairKind},
            "rewordings_by_editor": dict(sorted(self.by_editor.items())),
            "editor_failures": self.editor_failures,
            "supported_before": self.supported_before,
            "supported_kept": self.supported_kept,
            "wrong_attributions_before": self.wrong_attributions_before,
            "wrong_attributions_left": self.wrong_attributions_left,
            "verifier_calls": self.rounds,
        }
        shares = {
            "fallback_share": (
                self.statuses[RepairStatus.FALLBACK],
                self.blocked,
                "blocked answers",
            ),
            "supported_kept_share": (
                self.supported_kept,
                self.supported_before,
                "supported claims in blocked answers",
            ),
            "mean_words_kept": (sum(self.words_kept), len(self.words_kept), "repaired answers"),
        }
        for name, (part, whole, of) in shares.items():
            document[name] = round(part / whole, 4) if whole else None
            if not whole:
                document[f"{name}_reason"] = f"there are no {of}"
        return document


# A supported claim is still there when the revised answer has a supported one with its words.
STILL_SAID = 0.9


def outcome_of(repair: Repair) -> RepairOutcome:
    """The repair as a verdict tells it."""
    after = repair.after or repair.before
    return RepairOutcome(
        status=repair.status,
        actions=repair.actions,
        revised_answer=repair.revised_answer,
        decision_after=after.answer.decision,
        reasons_after=after.answer.reasons,
        rounds=repair.rounds,
        removed=tuple(
            action.before.strip()
            for action in repair.actions
            if action.kind in (RepairKind.PRUNE, RepairKind.FALLBACK)
        ),
        saved=measure_repair(repair),
    )


def measure_repair(repair: Repair) -> RepairSavings:
    """What the repair kept, and which supported claims it lost."""
    before, after = repair.before, repair.after
    supported = _supported(before)
    if repair.status is RepairStatus.NOT_NEEDED:
        after = before
    remaining = [content_terms(one.claim.text) for one in _supported(after)] if after else []
    lost = []
    for one in supported:
        terms = content_terms(one.claim.text)
        match = next((t for t in remaining if overlap(terms, t) >= STILL_SAID), None)
        if match is None:
            lost.append(one.claim.text)
        else:
            remaining.remove(match)  # two equal claims need two places in the revised answer
    words = share_of_words_kept(before.trace.answer or "", repair.revised_answer or "")
    return RepairSavings(
        supported_before=len(supported),
        supported_kept=len(supported) - len(lost),
        lost=tuple(lost),
        words_kept=None if words is None else round(words, 4),
        wrong_attributions_before=sum(map(credited_wrongly, before.claims)),
        wrong_attributions_left=sum(map(credited_wrongly, after.claims)) if after else 0,
    )


def _supported(verification: Verification) -> list[ClaimVerdict]:
    return [
        one
        for one in verification.claims
        if one.claim.claim_type is ClaimType.FACTUAL and one.decision is Decision.ALLOW
    ]


def repair_verified(
    verification: Verification,
    models: Models,
    config: Config,
    editor: Editor | None = None,
    settled: Mapping[str, Settled] | None = None,
) -> Repair:
    """Repair one verified answer with the verifier that judged it.

    What people ``settled`` goes before what it says, by the texts of claims.
    """
    labels = settled or {}
    models = remembering(models)  # a revision shares its sources and most sentences

    def again(trace: Trace) -> Verification:
        return with_labels(verify(trace, models, config), labels, verification)

    return repair_answer(with_labels(verification, labels), again, config, models.families, editor)


def settled_of(verification: Verification, final: Mapping[str, Judgement]) -> Mapping[str, Settled]:
    """What people settled of the claims with those ids, by the claims' texts."""
    return {
        one.claim.text: _settled_as(final[one.claim.claim_id])
        for one in verification.claims
        if one.claim.claim_id in final
    }


def _settled_as(final: Judgement) -> Settled:
    if passes(final):
        return Settled.PASSES
    supported = final.support is VerdictLabel.SUPPORTED
    return Settled.MISCREDITED if supported else Settled.WRONG


# ---------------------------------------------------------------- many traces


def repair_all(
    traces: Iterable[Trace],
    models: Models,
    config: Config,
    editor: Editor | None = None,
    progress: Progress = lambda done, total, what: None,
    *,
    total: int | None = None,
) -> Iterator[tuple[Verification, Repair]]:
    """Verify and repair traces in order, telling ``progress`` after each."""
    for done, trace in enumerate(traces, start=1):
        with_memory = remembering(models)  # one trace at a time, so that memory stays bounded
        verification = verify(trace, with_memory, config)
        yield verification, repair_verified(verification, with_memory, config, editor)
        progress(done, total, "answers")


def repair_trace(
    trace: Trace,
    models: Models,
    config: Config,
    editor: Editor | None = None,
    settled: Mapping[str, Settled] | None = None,
) -> RepairOutcome:
    """The repair of one trace, with what people ``settled`` of its claims, by their texts."""
    models = remembering(models)
    verification = verify(trace, models, config)
    return outcome_of(repair_verified(verification, models, config, editor, settled))


def repair_versions(models: Models, config: Config, editor: Editor | None) -> Versions:
    """The versions of a run with repair: kept apart from verdicts without it."""
    named = versions(models, config)
    writer = "" if editor is None else f"({editor.name})"
    rules = f"{rules_digest(repair=True)}+repair{writer}"
    return replace(named, pipeline=named.pipeline.replace(rules_digest(), rules, 1))


def repairing_judge(
    editor: Editor | None = None, report: RepairReport | None = None
) -> Callable[[Models, Config], Judge]:
    """What ``verify --repair`` gives the verify workflow: verifications with their repair.

    ``report`` counts the repairs as they are made.
    """

    def judged_by(models: Models, config: Config) -> Judge:
        named = repair_versions(models, config, editor)

        def verify_and_repair(traces: Sequence[Trace]) -> Iterator[Verification]:
            for verification, repair in repair_all(traces, models, config, editor):
                outcome = outcome_of(repair)
                if report is not None:
                    report.add(outcome)
                made = replace(
                    named, pipeline=unread(named.pipeline, verification.versions.pipeline)
                )
                yield replace(verification, repair=outcome, versions=made)

        return Judge(versions=named, verify=verify_and_repair)

    return judged_by


# A repair never changes, so it is counted once in a process: its document's hash → its figures.
_COUNTED: dict[str, RepairReport] = {}


class RepairStore(Protocol):
    """A store that gives the repair that stands of each answer."""

    def latest_digests(self) -> Mapping[int, str]:
        """Its id and the hash of its document."""

    def outcomes(self, repair_ids: Sequence[int]) -> Iterator[tuple[int, RepairOutcome]]:
        """Those repairs."""


def stale_repairs(
    repairs: Iterable[tuple[int, Mapping[str, str], Verification, Mapping[str, Judgement]]],
) -> frozenset[int]:
    """Which of (id, what it rests on, verdict, people's labels now) rest on other labels."""
    return frozenset(
        repair_id
        for repair_id, settled, read, labels in repairs
        if overruled(read, settled_of(read, labels)) != settled
    )


def repair_figures(store: RepairStore, stale: Collection[int] = ()) -> RepairReport:
    """What the repairs did that stand and are not ``stale``."""
    digests = {key: digest for key, digest in store.latest_digests().items() if key not in stale}
    new = [repair_id for repair_id, digest in digests.items() if digest not in _COUNTED]
    for repair_id, outcome in store.outcomes(new):
        counted = RepairReport()
        counted.add(outcome)
        _COUNTED[digests[repair_id]] = counted
    whole = RepairReport()
    for digest in digests.values():
        whole.merge(_COUNTED[digest])
    return whole
