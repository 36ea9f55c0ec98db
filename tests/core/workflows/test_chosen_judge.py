"""The judge of a database: verification asks it, its trail counts what was sent, and a failure is told."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from databases import a_store, workspace_of
from endpoints import reading, serving
from judged import supported
from labelled import UNSUPPORTED
from lexical import lexical_models, verify_lexically
from reviewing import an_office
from verdicts import fill

from cli.evaluating import judge_of
from core.config import Config
from core.errors import ConfigError, InputError, NotAllowed
from core.evaluation.kept import KeptPacket
from core.judge.asking import ask
from core.records import Claim, Span, State, VerdictLabel, Verification, state_of
from core.records.judge import JudgeFor, JudgeVerdict
from core.review.judge_trust import judge_trust
from core.review.records import Judgement
from core.workflows.judges import choose_judge, try_judge
from core.workflows.models import with_chosen_judge
from core.workflows.verify import verify_pending
from storage.store import SqlStore
from tests.builders import a_source, a_trace

KEY = "sk-never-shown-51be"
SAID = "Her potassium was 4.6 mmol/L."
SHOWN = Judgement(support=VerdictLabel.SUPPORTED, source_id="labs#1", conflation=False)
REPLIES = {SAID: supported("Potassium 4.6 mmol/L")}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlStore:
    monkeypatch.setenv("PROVENANCEGUARD_JUDGE_KEY", KEY)
    store = a_store(tmp_path / "workbench.db")
    labs = a_source("Patient: Rosa. Potassium 4.6 mmol/L, taken on 3 May.", "labs#1")
    fill(store, unverified=[a_trace(SAID, labs, trace_id="one")])
    return store


def verified(store: SqlStore, threshold: float = 0.5) -> Verification:
    """The verdict on the one trace, after what waits was verified as a lead chose."""
    calibrator = replace(lexical_models().calibrator, threshold=threshold)  # type: ignore[type-var]
    offline = replace(lexical_models(), calibrator=calibrator)
    models = with_chosen_judge(offline, workspace_of(store).judges)
    verify_pending(store, models, Config())
    found = store.get_verdict("one")
    assert found is not None
    return found.verification


def test_verification_asks_the_judge_that_a_lead_chose_and_the_trail_counts_it(
    store: SqlStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    lead = workspace_of(store).people.local()
    judges = workspace_of(store).judges
    with serving(reading(REPLIES)) as server:
        choose_judge(judges, server.url, "small", JudgeFor.ALL, "A pilot", lead)
        (claim,) = verified(store).claims

    assert claim.outcome.judge.word == "proved supported"  # type: ignore[union-attr]
    assert state_of(claim) is State.ALLOW
    sent, chosen = (e for e in store.audit_events() if e.action.startswith("judge."))
    assert (chosen.action, sent.action) == ("judge.chosen", "judge.sent")
    assert json.loads(sent.detail)["claims"] == 1 and SAID not in sent.detail
    assert server.keys == {f"Bearer {KEY}"}
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in kept and KEY not in caplog.text
    assert store.verify_chain().intact


def test_what_the_judge_did_not_read_says_so_and_is_asked_about_again(store: SqlStore) -> None:
    judges, lead = workspace_of(store).judges, workspace_of(store).people.local()
    with serving(reading(REPLIES)) as server:
        choose_judge(judges, server.url, "small", JudgeFor.ALL, "A pilot", lead)
    (unread,) = verified(store).claims  # the server is gone
    offline = verify_lexically(store.get_trace("one").trace).claims[0]

    port = int(server.url.split(":")[2].split("/")[0])
    with serving(reading(REPLIES), port):
        (read,) = verified(store).claims
        verified(store)

    assert (unread.decision, unread.verdict) == (offline.decision, offline.verdict)
    assert any("could not be reached" in reason for reason in unread.reasons)
    assert read.outcome.judge.word == "proved supported"  # type: ignore[union-attr]
    assert (
        sum(e.action == "judge.sent" for e in store.audit_events()) == 2
    )  # read once, never again


def test_a_host_that_nobody_named_is_refused_and_later_never_asked(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    judges, lead = workspace_of(store).judges, workspace_of(store).people.local()
    elsewhere = "https://models.example/v1"
    with pytest.raises(ConfigError, match="models.example"):
        choose_judge(judges, elsewhere, "small", JudgeFor.ALL, "A pilot", lead)
    with pytest.raises(ConfigError):
        choose_judge(judges, "replay:/etc/passwd", "small", JudgeFor.ALL, "A pilot", lead)
    monkeypatch.setenv("PROVENANCEGUARD_JUDGE_HOSTS", "models.example")
    with pytest.raises(InputError):
        choose_judge(judges, elsewhere, "small", JudgeFor.ALL, " ", lead)
    choose_judge(judges, elsewhere, "small", JudgeFor.ALL, "A pilot", lead)
    monkeypatch.delenv("PROVENANCEGUARD_JUDGE_HOSTS")

    (claim,) = verified(store).claims

    assert any("PROVENANCEGUARD_JUDGE_HOSTS" in reason for reason in claim.reasons)
    assert not any(e.action == "judge.sent" for e in store.audit_events())


def test_only_a_lead_chooses_and_a_trial_sends_nothing_of_anybodys(store: SqlStore) -> None:
    office = an_office(store, traces=0)
    with pytest.raises(NotAllowed):
        choose_judge(
            workspace_of(store).judges, "http://127.0.0.1:9/v1", "small", JudgeFor.ALL, "Why not",
            office.people["Ada"],
        )  # fmt: skip
    with serving(reading({"The potassium was 4.6 mmol/L.": supported("Potassium: 4.6")})) as server:
        works = try_judge(server.url, "small")
    with serving(reading({})) as other:
        wrong = try_judge(other.url, "small")
    gone = try_judge(other.url, "small")

    assert works.works and not wrong.works and not gone.works
    assert "could not be reached" in gone.told
    assert "Rosa" not in json.dumps(server.asked)
    assert workspace_of(store).judges.current().address is None


def test_what_people_found_of_its_readings_moves_what_a_judges_proof_is_worth(
    store: SqlStore,
) -> None:
    workspace = workspace_of(store)
    labs = a_source("Patient: Rosa. Potassium 4.6 mmol/L, taken on 3 May.", "labs#1")
    fill(store, unverified=[a_trace(SAID, labs, trace_id=f"t{n}") for n in range(6)])
    office = an_office(store, traces=0)
    with serving(reading(REPLIES)) as server:
        choose_judge(
            workspace.judges, server.url, "small", JudgeFor.ALL, "A pilot", workspace.people.local()
        )
        made = verified(store, 0.94)
        while item := office.desk("Ada").next_item():
            office.decide("Ada", item, UNSUPPORTED)
        fill(store, unverified=[a_trace(f"{SAID} ", labs, trace_id="one")])
        again = verified(store, 0.94)

    before, after = made.claims[0], again.claims[0]
    assert made.versions.pipeline != again.versions.pipeline  # what decided otherwise is named
    assert before.outcome.judge.worth == 0.95 and state_of(before) is State.ALLOW  # type: ignore[union-attr]
    by = before.outcome.judge.by  # type: ignore[union-attr]
    trust = judge_trust(by, workspace.judges.readings(), Config()).of[JudgeVerdict.SUPPORTED]
    assert (trust.right, trust.readings) == (0, 7) and trust.low < trust.mean < trust.high
    assert trust.mean == pytest.approx(19 / 27)  # 19 of 20 assumed, none of 7 found right
    assert after.outcome.judge.worth == 0.70  # type: ignore[union-attr]
    # Worth less than the threshold asks: the offline verdict stands, and says why.
    assert after.outcome.support.probability == after.outcome.judge.offline.probability  # type: ignore[union-attr]
    assert any("right with 70 %" in reason for reason in after.reasons)
    other = judge_trust("another@host#1", workspace.judges.readings(), Config())
    assert other.worth == {JudgeVerdict.SUPPORTED: 0.95, JudgeVerdict.CONTRADICTED: 0.05}


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ([("Ada", UNSUPPORTED)], []),  # she saw the verdict first
        ([("Ada", UNSUPPORTED), ("Ben", SHOWN)], [VerdictLabel.SUPPORTED]),
        ([("Ben", SHOWN), ("Cleo", SHOWN)], [VerdictLabel.SUPPORTED]),
        ([("Ben", SHOWN), ("Cleo", UNSUPPORTED)], []),
    ],
)
def test_only_what_was_said_before_a_verdict_was_seen_counts_and_each_claim_once(
    store: SqlStore, said: list[tuple[str, Judgement]], counts: list[VerdictLabel]
) -> None:
    workspace = workspace_of(store)
    office = an_office(store, traces=0, leading=("Ada",), reads_per_claim=len(said))
    with serving(reading(REPLIES)) as server:
        lead = workspace.people.local()
        choose_judge(workspace.judges, server.url, "small", JudgeFor.ALL, "A pilot", lead)
        verified(store)
    seen = store.get_verdict("one")
    office.desk("Ada").open_verdict(seen.content_hash, seen.run_key)

    for person, judgement in said:
        office.read(person, judgement)

    assert [label for _, _, label in workspace.judges.readings()] == counts


def test_what_one_judge_replied_to_a_packet_is_never_taken_for_anothers(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVENANCEGUARD_DB", str(tmp_path / "workbench.db"))
    workspace, trace = workspace_of(store), store.get_trace("one").trace
    packet = KeptPacket(
        sha256="0",
        name="a packet",
        folder=tmp_path,
        file="p.jsonl",
        rows=1,
        labelled=1,
        problems=(),
    )
    claim = Claim(claim_id="one::c01", text=SAID, span=Span(start=0, end=len(SAID)), said=SAID)

    def word(asking: bool) -> tuple[str, str]:
        judge = judge_of(packet, (), "Lea", ask=asking).judge
        (outcome,) = ask(trace, [claim], judge, b"secret").values()
        return outcome.by, outcome.word

    with serving(reading(REPLIES)) as server:
        told = []
        for model in ("small", "large", "small"):
            choose_judge(
                workspace.judges,
                server.url,
                model,
                JudgeFor.ALL,
                "A pilot",
                workspace.people.local(),
            )
            told.append(word(True))

    assert [body["model"] for body in server.asked] == ["small", "large"]
    assert [by.partition("@")[0] for by, _ in told] == ["small", "large", "small"]
    assert word(False) == told[2]  # by the same name, to which its trust belongs
