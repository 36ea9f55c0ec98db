"""The current user: a login's person, or on a machine without login the local profile."""

from __future__ import annotations

from typing import NoReturn

import streamlit as st
from streamlit.errors import StreamlitAuthError, StreamlitMissingAuthlibError

from core.errors import ConfigError, InputError, NotFound, ProvenanceGuardError
from core.review.records import Person, Role
from pages.widgets.plain import show_notice, stop_with
from pages.widgets.remembered_user import keep_in_tab, remembered
from pages.widgets.session import open_workspace
from storage.people import FIRST_LEAD, People

ROLE_WORDS = {
    Role.REVIEWER: "reviewer",
    Role.ADJUDICATOR: "adjudicator",
    Role.LEAD: "lead",
    Role.AUDITOR: "auditor",
}
_CHOSEN = "current_user"
# What a session keeps under a name that begins so is its user's, and goes with them.
OF_USER = "of-user-"
# Set from the first look on: the database keeps what was done, not what was read.
LOOKED_AT_THRESHOLDS = f"{OF_USER}looked-at-thresholds"
# In the frame above the page, where it takes no room from the work.
_PLACE = """<style>
.st-key-person { position: fixed; top: .35rem; right: .8rem; z-index: 999991; width: auto; }
.st-key-person button { min-height: 2rem; padding: .05rem .6rem; max-width: 16rem; }
.st-key-who { flex-wrap: nowrap; gap: .4rem; }
.st-key-who [data-testid="stText"] { max-width: 13rem; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; font-weight: 600; }
[data-testid="stLayoutWrapper"]:has(> .st-key-person) { position: absolute; }
/* What the tab remembers is no part of the page: in the flow it would cost a row of it. */
.st-key-at-work { position: absolute; width: 0; height: 0; overflow: hidden; }
</style>"""
_PARAMETER = "as"


def has_logins() -> bool:
    """Whether people log in here: through OIDC, or a proxy that says who they are."""
    return hasattr(st.user, "is_logged_in") or bool(st.get_option("server.trustedUserHeaders"))


def current_user() -> Person:
    """The current user of this session; a page without one ends here, saying what to do."""
    try:
        people = open_workspace().people
        person = _logged_in(people) if has_logins() else _local(people)
    except ProvenanceGuardError as error:
        stop_with("The database could not be read", str(error), tone="bad")
    if not person.roles:
        # Whose roles were all taken away sees nothing: neither texts nor verdicts nor figures.
        show_current_user(person)
        stop_with(
            "You have no role here",
            f"{person.shown} is known here and sees nothing yet. A lead gives a role on the page "
            "People.",
        )
    return person


def person_at_work() -> Person | None:
    """Who works here, as far as this session knows before its page is drawn; None: nobody yet."""
    people = open_workspace().people
    if has_logins():
        email = st.user.get("email")
        try:
            return people.by_email(str(email)) if email else None
        except (NotFound, InputError):
            return None
    asked = st.query_params.get(_PARAMETER, "")
    chosen = st.session_state.get(_CHOSEN)
    if chosen is None and asked.isdecimal():
        chosen = int(asked)
    if chosen is None:
        chosen = remembered(people.database_id())
    active = {each.person_id: each for each in people.everybody() if each.active}
    return active.get(chosen) if chosen is not None else people.local()


def show_current_user(person: Person) -> None:
    """Name the current user; on a machine without login, let them practise as somebody else."""
    with st.container(key="person", width="content"):
        st.html(_PLACE)
        if has_logins():
            _show_login(person)
        else:
            _show_chooser(person)


def _show_login(person: Person) -> None:
    if not hasattr(st.user, "is_logged_in"):  # a proxy says who it is, and ends it
        st.text(person.shown, width="content")
        return
    # A name is somebody's text: beside the button, never in its label.
    with st.container(horizontal=True, vertical_alignment="center", width="content"):
        st.text(person.shown, width="content")
        if st.button("Log out", type="tertiary", icon=":material/logout:", key="logout"):
            st.logout()


def _show_chooser(person: Person) -> None:
    with st.container(horizontal=True, vertical_alignment="center", width="content", key="who"):
        # A name is somebody's text: beside the button, never in its label.
        st.text(person.shown, width="content")
        # Other names are sent when the list is opened, not before: a reviewer's page names nobody.
        chooser = st.popover("Change", icon=":material/person:", key="chooser", on_change="rerun")
    with chooser:
        if not chooser.open:
            return
        st.text("The current user of this tab: everything done here is kept under that name.")
        everybody = [each for each in open_workspace().people.everybody() if each.active]
        for each in everybody:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    "Current user" if each == person else "Become",
                    key=f"become-{each.person_id}",
                    disabled=each == person,
                    on_click=_become,
                    args=(each.person_id,),
                )
                st.text(f"{each.shown} · {role_words(each)}")
        st.page_link("pages/people.py", label="Add people", icon=":material/group:")


def role_words(person: Person) -> str:
    """The person's roles, the working ones first."""
    return ", ".join(words for role, words in ROLE_WORDS.items() if role in person.roles) or (
        "no role"
    )


def _become(person_id: int) -> None:
    st.session_state[_CHOSEN] = person_id
    st.session_state["chooser"] = False  # the list closes: who was wanted has been found
    for name in [str(name) for name in st.session_state if str(name).startswith(OF_USER)]:
        del st.session_state[name]


def _local(people: People) -> Person:
    """Whom this session chose, else whom the tab or the browser remembers, else the local profile."""
    local, database_id = people.local(), people.database_id()
    active = {each.person_id: each for each in people.everybody() if each.active}
    asked = st.query_params.get(_PARAMETER, "")
    if _CHOSEN not in st.session_state and asked.isdecimal():
        st.session_state[_CHOSEN] = int(asked)
    if asked:
        # An address that is handed on names a page, never its reader.
        del st.query_params[_PARAMETER]
    chosen = st.session_state.get(_CHOSEN)
    last = remembered(database_id) if chosen is None else None
    named = next((each for each in (chosen, last) if each is not None), local.person_id)
    person = active.get(named, local)
    mine = keep_in_tab(
        database_id, person.person_id, chosen=chosen is not None, awaited=last is not None
    )
    if chosen is None and mine is not None:
        st.session_state[_CHOSEN] = mine
        if mine != person.person_id:
            st.rerun()
    elif last is not None:
        # Two tabs may be two people: nothing is read or written before the tab has said who it is.
        st.stop()
    return person


def _logged_in(people: People) -> Person:
    email = st.user.get("email")
    if not email:
        _ask_to_log_in()
    if st.user.get("email_verified") is False:
        stop_with(
            "This address is not confirmed",
            "Your login names an address that nobody has checked, so it could be somebody else's. "
            "Confirm it with who runs your logins, then log in again.",
            tone="bad",
        )
    try:
        return people.of_login(str(email), str(st.user.get("name") or ""))
    except NotFound:
        _show_unknown(str(email), led=people.led_by_login())
        st.stop()
    except (ConfigError, InputError) as error:
        stop_with("This login cannot be used", str(error), tone="bad")


def _ask_to_log_in() -> NoReturn:
    show_notice(
        "Who are you?",
        "Verdicts are kept with the name of who gave them, so this page needs a login.",
    )
    if hasattr(st.user, "is_logged_in") and st.button("Log in", type="primary", key="login"):
        try:
            st.login()
        except StreamlitMissingAuthlibError:
            show_notice(
                "Logging in is not installed",
                "Whoever runs this workbench installs it with: pip install "
                "'provenanceguard-workbench[login]'",
                tone="bad",
            )
        except StreamlitAuthError as error:
            show_notice("Logging in is not set up", str(error), tone="bad")
    st.stop()


def _show_unknown(email: str, *, led: bool) -> None:
    if led:
        show_notice(
            "You are not in this workbench yet", f"A lead can add {email} on the page People."
        )
        return
    show_notice(
        "Nobody who can log in leads this workbench yet",
        f"You are logged in as {email}. Whoever runs the workbench names the first lead by starting "
        f"it with {FIRST_LEAD}=<address of that login>; the first lead then adds everybody else on "
        "the page People.",
    )
