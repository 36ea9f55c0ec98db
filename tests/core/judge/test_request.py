"""What a judge is asked, what it replies, and replies that are kept."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadRecord, UnreadableFile
from core.judge.replay import Record, Replay, read_replies
from core.judge.reply import read_reply
from core.judge.request import CHARACTERS_A_TOKEN, RequestLimits, new_requests, tokens_of
from core.records import Claim, Span, StatedAttribution
from core.records.judge import CALLS, JudgeFailure, JudgeRequest, JudgeText, JudgeVerdict
from tests.builders import a_claim, a_source, a_trace

TABLE = "drug,dose,status\n" + "".join(f"drug{n},{n} mg,ACTIVE\n" for n in range(400))


def claims(count: int) -> list[Claim]:
    return [replace(a_claim(f"Drug{n} is {n} mg."), claim_id=f"c{n:02d}") for n in range(count)]


def one_request(*, secret: bytes = b"one", text: str = TABLE, **more: object) -> JudgeRequest:
    trace = a_trace("Drug1 is 1 mg.", a_source(text, "mar#1", "get_mar", arguments='{"mrn": "1"}'))
    (request,) = new_requests(trace, claims(2), secret, **more)  # type: ignore[arg-type]
    return request


def test_a_request_holds_sources_before_claims_and_every_text_between_marks() -> None:
    request = one_request(text="drug: ramipril")
    blocks = re.findall(
        rf"^(\w+)(?: S1)? {request.nonce}\n(.*?)\n{request.nonce}$", request.user, re.S | re.M
    )

    assert [name for name, _ in blocks] == ["QUESTION", CALLS, "SOURCE", "ANSWER", "CLAIMS"]
    assert "drug: ramipril" in blocks[2][1] and '{"mrn": "1"}' in blocks[2][1]
    assert "mar#1" not in request.user and "c01" not in request.user


def test_the_mark_is_another_in_each_run_and_the_digest_is_the_same() -> None:
    one, other = one_request(secret=b"one"), one_request(secret=b"other")

    assert one.nonce != other.nonce and one.user != other.user
    assert one.digest == other.digest
    assert one == one_request(secret=b"one")
    assert one.digest != one_request(text=TABLE + "drug9,9 mg,STOPPED\n").digest


def test_many_claims_are_several_requests_that_share_their_beginning() -> None:
    trace = a_trace("…", a_source(TABLE))

    requests = new_requests(trace, claims(130), b"s", limits=RequestLimits(claims=60))

    assert [claim for request in requests for claim in request.claims] == [
        f"c{n:02d}" for n in range(130)
    ]
    heads = {request.user.partition("\nCLAIMS ")[0] for request in requests}
    assert len(heads) == 1 and len(requests) == 3
    assert all('leave "missed" empty' in request.user for request in requests)


@given(st.lists(st.integers(0, 60_000), min_size=1, max_size=6), st.integers(3_000, 20_000))
def test_sources_stay_within_their_tokens_and_what_is_left_out_is_said(
    sizes: list[int], tokens: int
) -> None:
    sources = [a_source("x y " * (size // 4), f"s{n}") for n, size in enumerate(sizes)]

    (request,) = new_requests(
        a_trace("a", *sources), claims(3), b"s", limits=RequestLimits(source_tokens=tokens)
    )

    sent = request.user.count("x y")  # white space at an end is no loss
    assert (
        4 * sent <= 1.02 * tokens * CHARACTERS_A_TOKEN
    )  # the blanks between stretches are not counted
    cut = sent < sum(size // 4 for size in sizes)
    assert bool(request.left_out) is (f"{request.nonce} left out" in request.user) is cut


def test_sources_over_the_limit_are_narrowed_to_what_the_claims_are_about() -> None:
    table = "drug,dose,status\n" + "".join(f"drug{n},{n} mg,ACTIVE\n" for n in range(4_000))
    asked = [replace(a_claim("Drug3107 is 3107 mg."), claim_id="c")]
    trace = a_trace("…", a_source("Nothing of it. " * 4_000, "search#1"), a_source(table, "mar#1"))

    (request,) = new_requests(trace, asked, b"s", limits=RequestLimits(source_tokens=1_000))

    output = request.user.partition("SOURCE S2")[2]
    assert "\ndrug,dose,status\n" in output and "\ndrug3107,3107 mg,ACTIVE\n" in output
    assert f"[{request.nonce} left out: " in output
    assert request.left_out == ("search#1", "mar#1")


def test_a_long_source_is_narrowed_in_work_that_grows_with_it() -> None:
    lines = "".join(f"row{n}: drug{n} word{7 * n % 9_973} {n} mg\n" for n in range(20_000))

    began = time.process_time()
    (request,) = new_requests(a_trace("…", a_source(lines)), claims(20), b"s")

    assert time.process_time() - began < 15  # two minutes where each overlap looked at all words
    assert request.left_out


def test_a_credit_is_told_with_its_claim() -> None:
    stated = StatedAttribution(text="the chart", span=Span(start=0, end=3), family=None)

    (request,) = new_requests(
        a_trace("a", a_source("x")), [replace(a_claim("It is."), stated=stated)], b"s"
    )

    assert "1. It is.   [it credits: the chart]" in request.user


# ---------------------------------------------------------------- replies


def test_a_reply_is_read_by_claim_and_its_labels_are_source_ids() -> None:
    request = one_request()
    reply = {
        "claims": [
            {"n": 2, "verdict": "contradicted", "evidence": [{"source_id": "s1", "quote": "q"}],
             "conflict": {"claim_part": "2 mg", "source_part": "3 mg"}, "why": "three"},
            {"n": 1, "verdict": "supported", "evidence": [{"source_id": "CALLS", "quote": "q"}],
             "attribution": {"source_id": "S1", "stated_is_right": True}},
        ],
        "missed": [{"quote": "and more", "verdict": "not_shown"}],
    }  # fmt: skip

    found = read_reply(f"```json\n{json.dumps(reply)}\n```", request)

    assert found.readings["c01"].verdict is JudgeVerdict.CONTRADICTED
    assert found.readings["c01"].evidence[0].source_id == "mar#1"
    assert found.readings["c00"].evidence[0].source_id == CALLS
    assert (
        found.readings["c00"].source_id == "mar#1" and found.readings["c00"].stated_is_right is True
    )
    assert [stretch.quote for stretch in found.missed] == ["and more"]
    assert not found.problems


@pytest.mark.parametrize(
    ("claims_said", "read", "problem"),
    [
        ([{"n": 1, "verdict": "supported"}], 1, "does not read 1 of 2"),
        (
            [{"n": 1, "verdict": "supported"}, {"n": 1, "verdict": "contradicted"}],
            0,
            "more than once",
        ),
        ([{"n": 9, "verdict": "supported"}], 0, "claim 9 that was not asked"),
        ([{"n": 1, "verdict": "true"}], 0, "form asked for: claims[0].verdict"),
        ([{"n": "1", "verdict": "supported"}], 0, "form asked for: claims[0].n"),
    ],
)
def test_what_of_a_reply_is_unusable_is_said(
    claims_said: list[object], read: int, problem: str
) -> None:
    found = read_reply(json.dumps({"claims": claims_said}), one_request())

    assert len(found.readings) == read
    assert any(problem in told for told in found.problems)


@given(st.one_of(st.text(max_size=200), st.recursive(
    st.none() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["claims", "n", "verdict", "x"]), inner),
).map(json.dumps)))  # fmt: skip
def test_whatever_comes_back_is_read_or_said_to_be_unusable(text: str) -> None:
    found = read_reply(text, one_request(text="x"))

    assert len(found.readings) == 2 or found.problems


# ---------------------------------------------------------------- kept replies


class Counting:
    """A judge that counts how often it is asked."""

    name = "model"

    def __init__(self, reply: JudgeText | JudgeFailure) -> None:
        self.reply, self.asked = reply, 0

    def judge(self, request: JudgeRequest) -> JudgeText | JudgeFailure:
        self.asked += 1
        return self.reply


def test_a_kept_reply_is_never_asked_for_again_and_replays_in_another_run(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    reply = JudgeText(
        text='{"claims": []}', model="model", prompt_tokens=7, reply_tokens=2, seconds=0.5
    )
    asked = Counting(reply)

    for secret in (b"one", b"other"):
        assert Record(path, asked).judge(one_request(secret=secret)) == reply

    assert asked.asked == 1
    assert path.stat().st_mode & 0o077 == 0
    replayed = Replay(path)
    assert replayed.name == "model" and replayed.judge(one_request(secret=b"third")) == reply
    missing = replayed.judge(one_request(text="another"))
    assert isinstance(missing, JudgeFailure) and "no reply" in missing.reason


def test_a_kept_reply_fits_by_claim_whatever_else_is_asked_and_however_credits_are_read(
    tmp_path: Path,
) -> None:
    path, trace = tmp_path / "replies.jsonl", a_trace("Drug1 is 1 mg.", a_source(TABLE))
    said = [
        {"n": n, "verdict": "supported", "why": f"{n}", "attribution": {"stated_is_right": True}}
        for n in (1, 2)
    ]
    asked = Counting(JudgeText(text=json.dumps({"claims": said}), model="model"))
    credit = StatedAttribution(text="per the list", span=Span(start=0, end=0), family=None)
    first, second = claims(2)
    third = replace(a_claim("Drug2 is 7 mg."), claim_id="c03")
    (request,) = new_requests(trace, [first, second], b"one")
    Record(path, asked).judge(request)
    (later,) = new_requests(trace, [third, replace(second, stated=credit), first], b"other")

    replayed = Replay(path).judge(later)
    recorded = Record(path, asked).judge(new_requests(trace, [second], b"other")[0])

    assert isinstance(replayed, JudgeText) and isinstance(recorded, JudgeText)
    found = read_reply(replayed.text, later)
    assert {name: one.why for name, one in found.readings.items()} == {"c01": "2", "c00": "1"}
    assert found.problems == ("the reply does not read 1 of 3 claims",)
    # What it said of a credit was said of the one that was noted then.
    assert found.readings["c01"].stated_is_right is None
    assert found.readings["c00"].stated_is_right is True
    assert asked.asked == 1
    other = replace(later, system="Another prompt.")
    assert isinstance(Replay(path).judge(other), JudgeFailure)
    assert isinstance(Replay(path).judge(one_request(text="another")), JudgeFailure)


def test_a_reply_that_is_refused_says_nothing_of_other_requests_and_is_asked_for_again(
    tmp_path: Path,
) -> None:
    path, trace = tmp_path / "replies.jsonl", a_trace("Drug1 is 1 mg.", a_source(TABLE))
    good = {"n": 1, "verdict": "supported", "why": "1"}
    asked = Counting(JudgeText(text=json.dumps({"claims": [good, {"n": 2}]}), model="model"))
    (request,) = new_requests(trace, claims(2), b"one")
    (alone,) = new_requests(trace, claims(1), b"one")
    refused = Record(path, asked).judge(request)

    assert isinstance(refused, JudgeText) and not read_reply(refused.text, request).readings
    assert Replay(path).judge(request) == refused
    assert isinstance(Replay(path).judge(alone), JudgeFailure)
    assert Record(path, asked).judge(request) == refused and len(path.read_text().splitlines()) == 1

    asked.reply = JudgeText(text=json.dumps({"claims": [good]}), model="model")
    assert Record(path, asked).judge(request) == asked.reply
    assert Replay(path).judge(request) == asked.reply
    assert asked.asked == 3 and isinstance(Replay(path).judge(alone), JudgeText)


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    failing = Counting(JudgeFailure(reason="refused"))

    recording = Record(path, failing)

    assert [recording.judge(one_request()) for _ in range(2)] == [failing.reply] * 2
    assert failing.asked == 2 and not path.exists()


def test_a_damaged_file_of_replies_says_where(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"digest": "a", "model": "m", "text": "t"}\n{"digest": 1}\n')

    with pytest.raises(BadRecord, match=r"replies.jsonl:2: .*digest: expected text"):
        read_replies(path)
    with pytest.raises(UnreadableFile):
        read_replies(tmp_path / "nothing.jsonl")


def test_tokens_are_counted_before_anything_is_sent() -> None:
    request = one_request()

    assert request.tokens == tokens_of(request.system) + tokens_of(request.user)
    assert request.tokens > len(request.user) / 4
