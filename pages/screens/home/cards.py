"""What the home page says: what waits, how far the team is, what changed; names and annotations nowhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.records import State
from core.review.items import Progress
from core.review.records import Person, Role
from pages.widgets.counting import counted
from pages.widgets.palette import (
    LOOKS,
    Kind,
    answer_counts,
    as_the_verifier_said,
    claim_counts,
)
from pages.widgets.plain import Card
from pages.widgets.review_layout import duration_words
from storage.records import AuditEvent, Overview, VerdictCounts

LATELY = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Something to do: what, why, and the button that leads there."""

    title: str
    text: str
    label: str
    page: str
    query: Mapping[str, str]


def what_waits(
    overview: Overview, progress: Progress | None, person: Person, *, blind: bool = False
) -> list[Waiting]:
    """What this person can do now, the most useful first; ``blind``: no verdict is counted for them."""
    waiting = []
    if progress and Role.ADJUDICATOR in person.roles and progress.ties:
        waiting.append(
            Waiting(
                title=f"{counted(progress.ties, 'claim')} that two people read differently",
                text="You have not read them: a third view decides, and both annotations stay.",
                label="Adjudicate",
                page="pages/adjudicate.py",
                query={},
            )
        )
    left = progress.left_for_me if progress else 0  # with what is in hand
    if progress and Role.REVIEWER in person.roles and left:
        pace = progress.seconds_per_claim
        waiting.append(
            Waiting(
                title=f"{left:,} of {counted(progress.total, 'claim')} left for you to read"
                + (f" · about {duration_words(left * pace)}" if pace else ""),
                text="One claim at a time, with all its sources. Begin and stop whenever you like.",
                label="Go on reviewing" if progress.mine_done else "Start reviewing",
                page="pages/review.py",
                query={},
            )
        )
    if overview.waiting:
        waiting.append(
            Waiting(
                title=f"{counted(overview.waiting, 'trace')} not verified yet",
                text="Added, but no verdict so far.",
                label="Verify",
                page="pages/traces.py",
                query={"decision": "pending"},
            )
        )
    for state, title, text, label in _STOPPED:
        count = overview.by_state.get(state, 0)
        if count and not blind:
            waiting.append(
                Waiting(
                    title=title.format(counted(count, "answer")),
                    text=text,
                    label=label,
                    page="pages/traces.py",
                    query={"decision": state.value},
                )
            )
    return waiting


_STOPPED = (
    (
        State.BLOCK,
        "✕ {} blocked",
        "In each a claim is shown, or was found by people, to be wrong or wrongly credited; "
        "with edits for you to decide.",
        "Look at them",
    ),
    (
        State.NEEDS_REVIEW,
        "◐ {} to review",
        "Nothing in them is shown to be wrong; each says what could not be confirmed.",
        "Look at them",
    ),
)


def found_card(overview: Overview, counts: VerdictCounts) -> Card:
    """The claims of all answers by what was found, and the answers by state, with their marks."""
    people, verified = overview.by_people or counts, sum(overview.by_decision.values())
    alone = claim_counts(counts)
    # As many as people are to read: what they found to be no claim is among them.
    found = {Kind.ASIDE: people.set_aside - counts.set_aside, **claim_counts(people)}
    return {
        "title": f"{counted(sum(counts.by_verdict.values()), 'claim')} of "
        f"{counted(verified, 'answer')}",
        "text": f"Answers: {', '.join(answer_counts(overview))}.",
        "facts": [
            (
                f"{LOOKS[kind].mark} {_WORDS_OF_FOUND.get(kind, LOOKS[kind].word)}",
                f"{count:,}" + as_the_verifier_said(count, alone.get(kind, count)),
            )
            for kind, count in reversed(found.items())
            if count or alone.get(kind)
        ],
    }


_WORDS_OF_FOUND = {
    Kind.CONTRADICTED: "contradicted, or found wrong",
    Kind.ASIDE: "not a claim, as people found",
}


def team_facts(progress: Progress) -> list[tuple[str, str]]:
    """How far the project is, in figures with words."""
    facts = [
        ("Read by me", f"{progress.mine_done:,}"),
        ("Two views, not settled", f"{progress.ties:,}"),
    ]
    if progress.seconds_per_claim and progress.seconds_per_claim >= 1:
        facts.append(("A claim takes", f"about {progress.seconds_per_claim:.0f} seconds"))
    if progress.stuck:
        facts.append(("Begun, not moved for days", f"{progress.stuck:,}"))
    return facts


# What everybody may know. Who read what, and how, is not among it.
_WORDS = {
    "files.imported": "Traces were added",
    "verdicts.stored": "Verdicts were stored",
    "guideline.published": "A new version of the guideline came into force",
    "project.changed": "The project's settings were changed",
    "calibrator.kept": "A calibrator was fitted",
    "calibrator.promote": "A calibrator was promoted",
    "calibrator.reject": "A candidate calibrator was rejected",
    "calibrator.roll_back": "The calibrator was rolled back",
    "calibrator.threshold": "The threshold was changed",
    "reader.chosen": "Another NLI model was chosen",
    "judge.chosen": "Another judge was chosen, or none",
    "labels.imported": "Labels were imported",
    "labels.withdrawn": "An import of labels was taken back",
    "packet.exported": "A packet was exported",
    "packet.signed": "A packet was signed",
    "repair.stored": "A repair was proposed",
    "repair.verified": "A repaired text was verified",
}
TOLD_TO_ALL = frozenset(_WORDS)
_SHIPPED_GUIDELINE = ("guideline.published", "guideline 1")  # nobody published it


def what_changed(events: Sequence[AuditEvent]) -> list[tuple[str, str]]:
    """The latest changes that everybody may know of: when, and what; the same in a row once."""
    lately: list[tuple[datetime, str, int]] = []
    for event in events:
        words = _WORDS.get(event.action)
        if words is None or (event.action, event.entity) == _SHIPPED_GUIDELINE:
            continue
        count = _count(event)
        if lately and lately[-1][1] == words:
            at, _, so_far = lately[-1]
            lately[-1] = (at, words, so_far + count)
            continue
        if len(lately) == LATELY:
            break
        lately.append((event.at, words, count))
    return [
        (f"{at.astimezone():%d %b, %H:%M}", words + (f" ({count:,})" if count > 1 else ""))
        for at, words, count in lately
    ]


def _count(event: AuditEvent) -> int:
    """How many things one event tells of."""
    try:
        detail = json.loads(event.detail)
        if event.action.startswith("labels."):
            return int(detail.get("annotations") or detail["pre_labels"])
        return len(detail["verdicts"])
    except (ValueError, LookupError, TypeError):
        return 1
