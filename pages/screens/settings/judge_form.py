"""The form by which a lead chooses the judge: where it is served, which model, which claims."""

from __future__ import annotations

import os
from collections.abc import Callable

import streamlit as st

from core.errors import ProvenanceGuardError
from core.models.judge import KEY_FILE_VARIABLE, KEY_VARIABLE
from core.records.judge import JudgeFor
from core.review.judge_trust import judge_trust
from core.review.records import Person, Role
from pages.widgets.days import in_use
from pages.widgets.figures import show_numbers
from pages.widgets.forms import one_of
from pages.widgets.plain import show_notice
from pages.widgets.session import settings
from storage.workspace import Workspace

WORDS = {
    JudgeFor.UNSURE: "Left to a person",
    JudgeFor.ALL: "All",
    JudgeFor.BLOCKED: "All that are blocked",
}


def show_judge(
    workspace: Workspace, me: Person, save: Callable[[Callable[[], object], str], None]
) -> None:
    """Who is asked now and what that means; for a lead the form to ask another, to try it, or nobody."""
    now = workspace.judges.current()
    st.subheader("Judge", anchor=False)
    judge = f"{now.model} at {now.host} (claims: {WORDS[now.asked].lower()})"
    st.text(
        "A language model that reads claims beside the NLI model. The verifier needs none.\n"
        + in_use(
            judge if now.address else "no judge",
            now,
            workspace.people.shown_names(),
            "Nothing is sent anywhere.",
        )
    )
    _show_trust(workspace, asked=now.address is not None)
    if Role.LEAD not in me.roles:
        return
    form = st.expander(
        "Ask a language model: an engineer says where one is served"
        if now.address is None
        else "Ask another one, or nobody"
    )
    left, right = form.columns(2, gap="large")
    address = left.text_input(
        "Endpoint of a language model (OpenAI-compatible)",
        value=now.address or "",
        placeholder="http://127.0.0.1:8000/v1",
        key="set-judge-address",
    )
    model = left.text_input("Model", value=now.model, key="set-judge-model")
    asked = one_of(
        "Which claims it reads", WORDS, at=right, default=now.asked, key="set-judge-asked"
    )
    reason = right.text_input("Reason", key="set-judge-reason")
    if address:
        form.text(where_text_goes(address))
    row = form.container(horizontal=True, gap="small")
    tried = row.button("Try it", disabled=not address, key="try-judge")
    chosen = row.button("Ask this judge", disabled=not address, key="save-judge")
    off = row.button("Ask nobody", disabled=now.address is None, key="judge-off")
    if tried:
        _show_trial(address, model)
    if chosen:

        def choose() -> None:
            from core.workflows.judges import choose_judge  # nothing of it is needed to ask nobody

            choose_judge(workspace.judges, address, model, JudgeFor(asked), reason, me)

        save(choose, "The judge reads along from the next verification on.")
    if off:
        save(
            lambda: workspace.judges.choose(None, model, JudgeFor(asked), reason, me),
            "Nobody is asked any more; nothing leaves this machine.",
        )


def _show_trust(workspace: Workspace, *, asked: bool) -> None:
    """What people's labels here say of each judge that has read claims, and what is assumed of others."""
    config = settings()
    readings = list(workspace.judges.readings())
    trusts = {
        by: judge_trust(by, readings, config).of for by in sorted({by for by, _, _ in readings})
    }
    if not trusts and asked:
        right = round(config.judge_proved_support * config.judge_prior_readings)
        st.text(
            "Not yet measured here: no claim that it read with a proof was labelled by somebody who had "
            f"not seen the verdict. Until then it is taken to be right in {right} of "
            f"{config.judge_prior_readings} proved readings."
        )
    if not trusts:
        return
    for by, of in trusts.items():
        right, labelled = (sum(e.right for e in of.values()), sum(e.readings for e in of.values()))
        st.text(
            f"{by.partition('#')[0]} was right in {right} of {labelled} claims that it proved and "
            "people labelled here before they saw a verdict."
        )
    rows = [
        (
            by.partition("#")[0], by.partition("#")[2], verdict.value, trust.right, trust.readings,
            round(trust.mean, 3), round(trust.low, 3), round(trust.high, 3),
        )
        for by, of in trusts.items()
        for verdict, trust in of.items()
    ]  # fmt: skip
    with st.expander("For engineers: how far each judge is trusted, with intervals"):
        show_numbers(
            ("Judge", "Prompt", "Proves", "Right", "Labelled", "Trust", "95 % low", "95 % high"),
            rows,
            name="judge-trust",
            alt="How often each judge's proved readings were right, by people's labels",
        )
        st.caption(
            f"Trust weighs {config.judge_prior_readings} assumed readings beside the labelled ones, and "
            "decides from the next verification on: below the threshold its support passes no claim."
        )


def where_text_goes(address: str) -> str:
    """Which texts are sent where, and where the key is."""
    key = any(os.environ.get(name) for name in (KEY_VARIABLE, KEY_FILE_VARIABLE))
    where = address.strip().partition("://")[2].partition("/")[0] or "that endpoint"
    return (
        f"Sent to {where}: the question, the answer and every tool output of the answers verified here, "
        f"with whatever patients' data they hold. {'A' if key else 'No'} key for it is set where the "
        f"workbench was started ({KEY_VARIABLE} or {KEY_FILE_VARIABLE})."
    )


def _show_trial(address: str, model: str) -> None:
    from core.workflows.judges import try_judge

    try:
        with st.spinner("Asking about an invented claim …"):
            trial = try_judge(address, model)
    except ProvenanceGuardError as error:
        show_notice("It was not asked", str(error), tone="bad")
        return
    title = "The judge works" if trial.works else "The judge cannot be used like this"
    show_notice(title, trial.told, tone="good" if trial.works else "bad")
