"""Which pages somebody can use: the others are not in their navigation, and say so when opened.

Hiding is no access control: every page checks for itself, and so does every write.
"""

from __future__ import annotations

import streamlit as st

from core.errors import ProvenanceGuardError
from core.review.readers import is_blind
from core.review.records import Person, Project, Role
from pages.widgets.current_user import person_at_work
from pages.widgets.plain import stop_with
from pages.widgets.session import open_workspace

WHO_READS = "Who reads what"  # the part of Agreement that ?readings= opens
_READERS = frozenset({Role.LEAD, Role.AUDITOR})
_NEEDED = {
    "review": frozenset({Role.REVIEWER}),
    "adjudicate": frozenset({Role.ADJUDICATOR, Role.LEAD}),
    "agreement": _READERS,
    "recalibrate": _READERS,
    "export": _READERS,
    "audit": _READERS,
}
# They show verdicts or labels of many claims at once, whoever has yet to judge them.
_TELLING = frozenset({"repair", "thresholds", "evaluation"})


def usable_pages(names: tuple[str, ...]) -> frozenset[str]:
    """Those of these pages that the user of this session can use; all while nobody is known."""
    try:
        person = person_at_work()
        if person is None:
            return frozenset(names)
        project = open_workspace().project()
    except ProvenanceGuardError:
        return frozenset(names)  # the page itself says what is wrong
    return frozenset(name for name in names if may_use(name, person, project))


def link_verdict(label: str, trace_id: str, claim_id: str | None = None) -> None:
    """The way to the verdict on a trace, and to one of its claims."""
    query = {"trace": trace_id} | ({} if claim_id is None else {"claim": claim_id})
    st.page_link("pages/verdict.py", label=label, icon=":material/fact_check:", query_params=query)


def link_review(person: Person) -> None:
    """The way to Review for whoever reads claims; nothing for anybody else."""
    if Role.REVIEWER in person.roles:
        st.page_link("pages/review.py", label="Review claims", icon=":material/rate_review:")


def may_use(page: str, person: Person, project: Project) -> bool:
    """Whether the person has a role for that page, and may see what it shows."""
    if page in _TELLING:
        return not (is_blind(person) and project.settings.decide_first)
    needed = _NEEDED.get(page)
    return needed is None or bool(needed & person.roles)


def stop_while_blind(person: Person, project: Project, title: str) -> None:
    """End a page that shows verdicts or labels of many claims for whoever has yet to judge some."""
    if not (is_blind(person) and project.settings.decide_first):
        return
    st.title(title, anchor=False)
    stop_with(
        "For leads and auditors",
        "This page shows what the verifier and others say of many claims. You read blind: some of "
        "them may still come to you.",
    )
