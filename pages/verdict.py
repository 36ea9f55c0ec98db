"""One verified answer: its claims on the left, the sources behind them on the right."""

from __future__ import annotations

import streamlit as st

from core.errors import NotFound, ProvenanceGuardError
from core.provenance.records import ProvenanceReport
from core.records import State
from core.workflows.provenance_report import one_answer, report_of
from pages.screens.verdict.choose import TRACES, show_answers_to_open
from pages.screens.verdict.cited_claims import show_cited_claims
from pages.screens.verdict.provenance import lay_out_provenance, show_downloads, with_moved
from pages.screens.verdict.view import show_evidence
from pages.widgets.forms import one_of
from pages.widgets.plain import show_notice, stop_with
from pages.widgets.rebinding import usable
from pages.widgets.routing import begin_page, or_stop
from pages.widgets.session import open_workspace, settings
from pages.widgets.shortcuts import Page
from pages.widgets.trace_list import last_opened
from pages.widgets.trace_tools import go_to_its_claims, show_trace_tools
from pages.widgets.verdict_view import lay_out, unverified
from pages.widgets.withheld import stop_while_undecided
from storage.records import StoredVerdict

REPAIR = "pages/repair.py"

user = begin_page(__file__, "Verdict")
wanted = st.query_params.get("trace")
if wanted is None and (wanted := last_opened()) is not None:
    st.query_params["trace"] = wanted  # from the menu: the answer that was looked at last
if wanted is None:
    st.title("Verdict", anchor=False)
    with or_stop():
        show_answers_to_open(open_workspace(user).store, user)
    st.stop()

try:
    workspace = open_workspace(user)
    store = workspace.store
    stored = store.get_trace(wanted)
    asked_version = st.query_params.get("version", "")
    number = int(asked_version) if asked_version.isdecimal() else len(stored.versions)
    if 1 <= number < len(stored.versions):
        stored = store.get_trace(wanted, stored.versions[number - 1])
except NotFound:
    st.set_page_config(page_title="Trace not found · ProvenanceGuard")
    show_notice(
        "There is no such trace",
        f"No trace with the id {wanted} is in this database. It may have been erased, or the link "
        "comes from another database.",
    )
    st.page_link(TRACES, label="Go to the traces", icon=":material/list_alt:")
    st.stop()
except ProvenanceGuardError as error:
    stop_with("The database could not be read", str(error), tone="bad")

try:
    verdict: StoredVerdict | None = store.get_verdict(wanted, content_hash=stored.content_hash)
except NotFound:
    verdict = None  # imported, but not verified yet

st.set_page_config(page_title=f"{stored.trace.trace_id} · ProvenanceGuard")
if verdict is not None:
    stop_while_undecided(workspace, user, verdict)
keys = usable(workspace.key_bindings.of(user))
show_trace_tools(workspace, user, wanted, read=verdict is not None, keys=keys)

if len(stored.versions) > 1:
    # Above the view: whoever looks at an earlier version must not take it for the newest.
    chosen = one_of(
        "Version", {each: f"Version {each}" for each in range(1, len(stored.versions) + 1)},
        default=stored.version, label_visibility="collapsed",
        key=f"version-of-{stored.content_hash}",
    )  # fmt: skip
    if chosen != stored.version:
        st.query_params["version"] = str(chosen)
        st.rerun()

# Texts beyond what a page holds at first are fetched when their source is opened.
opened = st.session_state.setdefault("opened_sources", {}).setdefault(stored.content_hash, [])
people = store.by_people(stored.content_hash) if verdict else None
data = lay_out(
    unverified(stored.trace) if verdict is None else verdict.verification,
    stored.trace,
    opened=opened,
    verified_at=verdict.verified_at if verdict else None,
    prior=workspace.project().settings.supported_prior or settings().supported_prior,
    people=people,
)
if verdict is not None:
    data = with_moved(data, verdict.verification, workspace.calibrators)
view = {name: st.query_params.get(name) for name in ("claim", "source", "beside", "panel")}
links = []
if verdict is not None:
    links.append(
        {
            "page": "review",
            "words": "Review",
            "title": "Read claims yourself, without seeing what the verifier says",
        }
    )
    if data["decision"]["kind"] in (State.BLOCK, State.NEEDS_REVIEW):
        links.append(
            {
                "page": "repair",
                "words": "Repair",
                "title": "Proposed edits for you to decide, each with its reason and its source",
            }
        )
    if any(claim.citations for claim in verdict.verification.claims):
        links.append(
            {
                "page": "cited",
                "words": "Citations …",
                "title": "Read each claim again by what it cites alone, with better citations",
            }
        )
# Worked out when it is first looked at, and kept for this version of the answer and this verdict.
provenance: dict[str, ProvenanceReport] = st.session_state.setdefault("provenance", {})
this_verdict = f"{stored.content_hash} {verdict.run_key} {verdict.verified_at}" if verdict else ""


def _provenance() -> ProvenanceReport:
    assert verdict is not None
    if this_verdict not in provenance:
        provenance.clear()
        provenance[this_verdict] = report_of(
            verdict.verification, stored.trace, stored.content_hash
        )
    return provenance[this_verdict]


if verdict is not None and (view["panel"] == "provenance" or this_verdict in provenance):
    data = {
        **data,
        "provenance": lay_out_provenance(_provenance(), verdict.verification, stored.trace),
    }
own_keys = dict(keys.of_views(Page.VERDICT))
lit_words = list(workspace.word_lists.of(user).all)
asked = show_evidence(
    {**data, "view": view, "links": links, "keys": own_keys, "words": lit_words}, key="evidence"
)
if asked.page == "repair":
    st.switch_page(REPAIR, query_params={"trace": wanted})
if asked.page == "review":
    go_to_its_claims(workspace, user, wanted)
if asked.page == "provenance" and verdict is not None and this_verdict not in provenance:
    _provenance()
    st.rerun()
if asked.page == "report" and verdict is not None:
    show_downloads(one_answer(_provenance(), store), stored.trace.trace_id)
if asked.page == "cited":
    show_cited_claims(stored.trace)
if asked.source_id is not None and asked.source_id not in opened:
    opened.append(asked.source_id)
    st.rerun()
