"""How far reviewers agree, with each other and with the verifier, and the claims behind each number."""

from __future__ import annotations

from types import EllipsisType

import streamlit as st

from core.review.agreement_records import Basis, Grouping, Question
from core.review.agreement_resamples import FEWEST_TRACES
from core.review.readers import require_reader
from pages.screens.agreement.claim_table import names_by_claim, show_claims
from pages.screens.agreement.over_time import cut_words, show_by_person, show_causes, show_over_time
from pages.screens.agreement.rounds import show_rounds
from pages.screens.agreement.view import (
    CLAIM_HEADER,
    GROUP_HEADER,
    GROUPINGS,
    QUESTIONS,
    claim_rows,
    count_words,
    group_rows,
    left_out_words,
    show_course,
    show_figures,
    skew_words,
)
from pages.widgets.counting import counted
from pages.widgets.figures import show_numbers
from pages.widgets.forms import one_of, show_saved
from pages.widgets.navigation import WHO_READS, link_review
from pages.widgets.plain import show_notice
from pages.widgets.reviewed import agreement_for, packets_for
from pages.widgets.routing import begin_page, or_stop
from pages.widgets.session import open_workspace

ALL_ANNOTATIONS, ROUNDS = "All annotations", "Agreement rounds"
BASES = {Basis.INDEPENDENT: "Before the verifier's view", Basis.STANDING: "As they stand"}
REFUSED = "Agreement is for leads and auditors"

user = begin_page(__file__, "Agreement")
st.title("Agreement", anchor=False)
show_saved()

compared = one_of(
    "Annotations", [ALL_ANNOTATIONS, ROUNDS, WHO_READS], label_visibility="collapsed", key="readings",
    bind="query-params",
)  # fmt: skip
if compared == WHO_READS:
    with or_stop(REFUSED):
        show_by_person(
            agreement_for(
                packets_for(user), user, Question.SUPPORT, Basis.INDEPENDENT, Grouping.PAIR
            ),
            open_workspace(user),
            user,
        )
    st.stop()
left, middle, right = st.columns([3.1, 1.9, 1.2], vertical_alignment="bottom")
question = one_of("Compared on", QUESTIONS, at=left, default=Question.SUPPORT, key="question")
if compared == ROUNDS:
    with or_stop(REFUSED):
        require_reader(user, "see how far annotators agree")
        show_rounds(open_workspace(user), user, question)
    st.stop()
basis = one_of("Annotations", BASES, at=middle, key="basis")
grouping = right.selectbox(
    "Told apart by", [*Grouping], index=[*Grouping].index(Grouping.PAIR),
    format_func=GROUPINGS.__getitem__, key="grouping",
)  # fmt: skip

# Where tens of thousands of claims were read, the first look after a start takes seconds.
with or_stop(REFUSED), st.spinner("Comparing the annotations …", show_time=True):
    view = agreement_for(packets_for(user), user, question, basis, grouping)
    names, tools = names_by_claim(view.claims.values(), question)

people = view.people
if not view.claims:
    show_notice(
        "No claim has all its annotations yet",
        f"{counted(view.unfinished, 'claim')} begun. Agreement appears as soon as claims are read."
        if view.unfinished
        else "Agreement appears as soon as reviewers have read claims on the page Review.",
    )
    link_review(user)
    st.stop()
if view.kept_back:
    st.caption(
        f"{counted(view.kept_back, 'claim')} kept back: you may still be asked to judge them yourself."
    )

# ---------------------------------------------------------------- people with people

if people.claims:
    show_figures(people)
    words_of = (count_words(people, tools), skew_words(people, tools), left_out_words(people))
    st.text("\n".join(filter(None, words_of)))
else:
    show_notice(
        "No two annotations to compare",
        (left_out_words(people) or "")
        + " A lead sets on the page Settings that two people read each claim; they are compared here.",
    )

if people.claims and len(view.groups) > 1:  # the figures of one group stand above
    st.subheader(f"By {GROUPINGS[grouping].lower()}", anchor=False)
    if grouping is Grouping.WEEK:
        show_course(
            [(each.name, f"n = {each.figures.claims:,}", each.figures) for each in view.groups],
            what="week",
            title="Raw agreement by week with 95 % intervals",
            xaxis_title="week of the second annotation, by its Monday",
            yaxis_title="both annotations agree (%)",
        )
    show_numbers(
        GROUP_HEADER,
        group_rows(view.groups, grouping, tools),
        name=f"agreement-by-{grouping.value}",
        alt=f"Agreement by {GROUPINGS[grouping].lower()}: claims, traces, figures and intervals",
    )
    if any(group.figures.traces < FEWEST_TRACES for group in view.groups):
        st.caption(f"–: of fewer than {FEWEST_TRACES} traces, too few to tell")

if people.claims:
    st.subheader("The claims behind these numbers", anchor=False)
    by_name = {group.name: group for group in view.groups}
    one, two = st.columns([1, 1], vertical_alignment="bottom")
    which = one_of("Show claims on which annotations", ["differ", "agree"], at=one, key="which")
    choices: list[str | None | EllipsisType] = [..., *by_name]
    group = two.selectbox(
        "Of",
        choices,
        format_func=lambda name: (
            "all groups" if isinstance(name, EllipsisType) else name or "no group"
        ),
        key=f"group-{grouping.value}",
    )
    figures = people if isinstance(group, EllipsisType) else by_name[group].figures
    keys = figures.differing if which == "differ" else figures.agreeing
    show_claims(
        CLAIM_HEADER,
        claim_rows([view.claims[key] for key in keys], question, names),
        [view.claims[key] for key in keys],
        key="claims",
        nothing=f"There is no claim on which annotations {which}.",
    )

if words := cut_words(list(view.claims.values())):
    st.text(words)
show_causes(list(view.claims.values()))

# ---------------------------------------------------------------- people with the machine

st.subheader("With the verifier, before its view was shown", anchor=False)
if view.machine.claims:
    show_figures(view.machine)
    st.text(count_words(view.machine, tools, "annotation"))
else:
    st.text("No annotation can be compared with the verifier.")
if left_out := left_out_words(view.machine):
    st.text(left_out)
if view.pre_labels.claims:
    st.subheader("With the pre-labels, before they were shown", anchor=False)
    show_figures(view.pre_labels)
    st.text(count_words(view.pre_labels, tools, "annotation"))
reveal = view.reveal
if reveal.annotations:
    st.text(
        f"After the reveal: {reveal.changed:,} of {reveal.annotations:,} annotations were changed; "
        f"{reveal.towards_machine:,} to what the verifier says, {reveal.away_from_machine:,} away "
        "from it."
    )

show_over_time(list(view.claims.values()))
