"""Agreement rounds for a lead: begin one, see how far annotators agree, amend the guideline, again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from core.errors import NotAllowed
from core.review.agreement_records import AgreementFigures, Question
from core.review.agreement_resamples import FEWEST_TRACES
from core.review.items import Guideline
from core.review.records import Person, Role
from core.review.rounds import (
    CLAIMS,
    MOST_CLAIMS,
    AgreementRound,
    RoundLabel,
    agreement_of_round,
    answer,
    differing,
)
from pages.screens.agreement.claim_table import names_by_claim
from pages.screens.agreement.view import (
    Names,
    figure_cells,
    label_words,
    number,
    said_words,
    show_course,
    show_figures,
)
from pages.widgets.counting import counted
from pages.widgets.figures import Cell, show_numbers
from pages.widgets.forms import one_of, save, show_publishing
from pages.widgets.plain import show_card, show_cards, show_notice
from storage.workspace import Workspace

HEADER = (
    "Round", "Began", "Guideline", "Annotators", "Claims", "Pairs", "Raw", "Raw, 95 %", "Fleiss κ",
    "Fleiss κ, 95 %", "AC1", "AC1, 95 %",
)  # fmt: skip


class Measured(NamedTuple):
    """A round that may be looked at, with what was said and how far it agrees."""

    round: AgreementRound
    labels: tuple[RoundLabel, ...]
    figures: AgreementFigures


def show_rounds(workspace: Workspace, user: Person, question: Question) -> None:
    """Show the rounds of the project; a lead begins and closes them, and amends the guideline."""
    rounds = workspace.rounds.all()
    lead = Role.LEAD in user.roles and Role.AUDITOR not in user.roles
    running = rounds[-1] if rounds and not rounds[-1].finished else None
    if running is not None:
        _show_running(workspace, running, user, lead=lead)
    elif lead:
        _show_beginning(workspace, user, number=len(rounds) + 1)
    if not rounds:
        show_notice(
            "No round yet",
            "In an agreement round everybody reads the same claims, blind. Where they differ, the "
            "guideline says too little: amend it, and see in the next round whether they agree more.",
        )
        return
    finished = [one for one in rounds if one.finished]
    measured = [each for one in finished if (each := _measured(workspace, one, user, question))]
    if measured:
        names = workspace.people.shown_names()
        guidelines = [
            replace(each, author=names.get(each.author, each.author))
            for each in workspace.guidelines.versions()
        ]
        _show_measured(measured, guidelines, question)
        if lead:
            with st.expander("Amend the guideline"):
                show_publishing(workspace.guidelines, workspace.guidelines.current(), user)


def _measured(
    workspace: Workspace, one: AgreementRound, user: Person, question: Question
) -> Measured | None:
    try:
        labels = workspace.rounds.labels(one, user)
    except NotAllowed:
        return None  # read by them in another tab meanwhile, and not to its end
    if not labels:
        return None
    return Measured(one, labels, agreement_of_round(labels, question))


# ---------------------------------------------------------------- beginning and closing


def _show_running(workspace: Workspace, one: AgreementRound, user: Person, *, lead: bool) -> None:
    show_card(
        key="round-running",
        title=f"Round {one.number} is being read",
        aside=f"{counted(one.claims, 'claim')}, guideline {one.guideline_version}",
        facts=[(each.name, f"{each.done} of {one.claims}") for each in one.annotators],
    )
    if lead and st.button(
        "Close this round",
        key="close-round",
        help="What was read stays and is compared; nobody reads on.",
    ):
        save(lambda: workspace.rounds.close(by=user), f"Round {one.number} is closed.")


def _show_beginning(workspace: Workspace, user: Person, *, number: int) -> None:
    reviewers = [each for each in workspace.people.everybody() if _reads(each)]
    with st.expander(f"Begin round {number}", expanded=number == 1):
        annotators = st.multiselect(
            "Who reads",
            reviewers,
            default=reviewers,
            format_func=lambda each: each.shown,
            key=f"round-readers-{number}",
        )
        free = workspace.rounds.candidates(annotators) if annotators else ()
        texts = {each.claim_key: f"{each.text} · {each.claim_id}" for each in free[:500]}
        left, right = st.columns([1, 3])
        count = left.number_input(
            "Claims", 1, MOST_CLAIMS, CLAIMS, key=f"round-count-{number}",
            help=f"{counted(len(free), 'claim')} nobody has begun, and no annotator has seen.",
        )  # fmt: skip
        chosen = right.multiselect(
            "These claims (none chosen: drawn by chance, from as many answers as there are)",
            list(texts),
            format_func=texts.__getitem__,
            placeholder="Drawn by chance",
            key=f"round-claims-{number}",
        )
        if st.button(f"Begin round {number}", type="primary", key="begin-round"):
            save(
                lambda: workspace.rounds.begin(
                    annotators, by=user, count=int(count), chosen=chosen
                ),
                f"Round {number} has begun: its claims come first on Review.",
            )


def _reads(person: Person) -> bool:
    return Role.REVIEWER in person.roles and Role.AUDITOR not in person.roles


# ---------------------------------------------------------------- what came of them


def _show_measured(
    measured: Sequence[Measured], guidelines: Sequence[Guideline], question: Question
) -> None:
    last = measured[-1]
    st.subheader(f"Round {last.round.number}", anchor=False)
    show_figures(last.figures)
    names, tools = names_by_claim([label for each in measured for label in each.labels], question)
    st.text(_count_words(last, tools))
    if words := change_words(measured, guidelines):
        show_cards([{"title": "Since the round before", "text": words}], key="round-change")
    if len(measured) > 1:
        show_course(
            [
                (
                    f"Round {each.round.number}, guideline {each.round.guideline_version}, "
                    f"n = {each.round.claims:,}",
                    "",
                    each.figures,
                )
                for each in measured
            ],
            what="round",
            title="Raw agreement by round with 95 % intervals",
            yaxis_title="two annotators agree (%)",
        )
    show_numbers(
        HEADER,
        [_row(each) for each in measured],
        name="agreement-rounds",
        alt="Agreement rounds: guideline, annotators, claims, figures and intervals",
    )
    _show_differing(measured, question, names)


def change_words(measured: Sequence[Measured], guidelines: Sequence[Guideline]) -> str:
    """Whether agreement rose since the round before, and what was changed in between."""
    if len(measured) < 2:
        return ""
    before, now = measured[-2], measured[-1]
    old, new = before.figures.raw, now.figures.raw
    few = min(before.figures.traces, now.figures.traces) < FEWEST_TRACES  # no figure is shown
    if few or old.value is None or new.value is None:
        return ""
    moved = "rose" if new.value > old.value else "fell" if new.value < old.value else "stayed"
    words = f"Raw agreement {moved}: {number(old, 'Raw')} to {number(new, 'Raw')}"
    kappas = before.figures.fleiss, now.figures.fleiss
    if kappas[0].value is not None and kappas[1].value is not None:
        words += f"; Fleiss' kappa {kappas[0].value:.2f} to {kappas[1].value:.2f}"
    if old.interval and new.interval:
        apart = new.interval.low > old.interval.high or new.interval.high < old.interval.low
        words += (
            ". The intervals lie apart." if apart
            else ". The intervals overlap: this many claims cannot tell it from chance."
        )  # fmt: skip
    changes = [
        f"\nGuideline {each.version}, {each.author}, {each.at.astimezone():%d %b %Y}: {each.change}"
        for each in guidelines
        if before.round.guideline_version < each.version <= now.round.guideline_version
    ]
    return words + ("".join(changes) or "\nThe guideline was not amended in between.")


def _count_words(one: Measured, tools: Names) -> str:
    claims = len({each.claim_key for each in one.labels})
    return (
        f"{counted(claims, 'claim')} of {counted(one.figures.traces, 'trace')}, each read by up to "
        f"{len(one.round.annotators)} people: {counted(one.figures.claims, 'pair')} of annotations. "
        f"{said_words(one.figures.prevalence, tools)} Guideline {one.round.guideline_version}."
    )


def _row(one: Measured) -> list[Cell]:
    figures = one.figures
    return [
        one.round.number,
        f"{one.round.at.astimezone():%d %b %Y}",
        one.round.guideline_version,
        len(one.round.annotators),
        one.round.claims,
        figures.claims,
        *figure_cells(figures, figures.raw, figures.fleiss, figures.ac1),
    ]


def _show_differing(
    measured: Sequence[Measured], question: Question, names: Mapping[int, Names]
) -> None:
    st.subheader("Where they differ", anchor=False)
    numbers = {each.round.number: each for each in measured}
    one = numbers[one_of("Round", list(numbers), default=max(numbers), key="round-shown")]
    claims = differing(one.labels, question)
    if not claims:
        st.text("On every claim, all annotators say the same.")
        return
    show_cards(
        [
            {
                "title": each[0].text,
                "aside": each[0].claim_id,
                "facts": [
                    (
                        label.annotator,
                        label_words(
                            answer(label.judgement, question), names.get(label.claim_key, {})
                        )
                        + (f" · {label.rationale}" if label.rationale else ""),
                    )
                    for label in each
                ],
            }
            for each in claims
        ],
        key="round-differing",
    )
