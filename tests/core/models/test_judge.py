"""The judge's endpoint against a real server on loopback that misbehaves in every way we know of."""

from __future__ import annotations

import json
import logging
import socket
import sys
import threading
from pathlib import Path

import pytest

from core.errors import ComponentUnavailable, ConfigError
from core.models.judge import ChatJudge, JudgeSettings, load_judge, settings_from
from core.records.judge import JudgeFailure, JudgeRequest, JudgeText
from tests.core.models.test_editor import Handler, completion, send, serving

KEY = "sk-never-shown-7f3a"
REQUEST = JudgeRequest(
    system="Check.", user="CLAIMS 1", nonce="n", claims=("c1",), labels=("s1",), tokens=100
)
REPLY = '{"claims": []}'


def judge_at(url: str, **more: object) -> ChatJudge:
    settings = JudgeSettings(url=url, model="m", key=KEY, **more)  # type: ignore[arg-type]
    return load_judge(settings, "Check.", {"type": "object"})


def answering(body: bytes, status: int = 200) -> Handler:
    return lambda handler, _: send(handler, body, status)


def test_a_judge_is_asked_with_a_schema_a_seed_and_no_temperature() -> None:
    with serving(answering(completion(REPLY))) as server:
        judge = judge_at(server.url)
        reply = judge.judge(REQUEST)
        judge.close()

    (asked,) = server.asked
    assert isinstance(reply, JudgeText) and reply.text == REPLY
    assert (asked["temperature"], asked["model"]) == (0, "m") and "seed" in asked
    assert asked["response_format"]["type"] == "json_schema"  # type: ignore[index]


def test_what_a_server_does_not_know_is_asked_for_more_plainly_and_only_once() -> None:
    def old(handler: object, body: dict[str, object]) -> None:
        known = "response_format" not in body and "tools" not in body
        send(handler, completion(REPLY) if known else b"{}", 200 if known else 400)  # type: ignore[arg-type]

    with serving(old) as server:
        judge = judge_at(server.url)
        replies = [judge.judge(REQUEST), judge.judge(REQUEST)]
        judge.close()

    assert all(isinstance(reply, JudgeText) for reply in replies)
    assert len(server.asked) == 4


def test_a_reply_by_a_tool_call_is_read() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "reply", "arguments": REPLY}}
    body = json.loads(completion(None))
    body["choices"][0]["message"]["tool_calls"] = [call]
    with serving(answering(json.dumps(body).encode())) as server:
        reply = judge_at(server.url).judge(REQUEST)

    assert isinstance(reply, JudgeText) and reply.text == REPLY


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (completion(None), 200), (completion(REPLY, "length"), 200), (b"no JSON", 200),
        (completion(None, refusal="no"), 200), (b"{}", 401), (b"{}", 302), (b'{"choices": []}', 200),
    ],
)  # fmt: skip
def test_whatever_goes_wrong_is_a_reason_without_the_key(
    body: bytes, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(answering(body, status)) as server:
        judge = judge_at(server.url)
        reply = judge.judge(REQUEST)

    assert isinstance(reply, JudgeFailure) and reply.reason
    told = f"{reply} {judge.name} {JudgeSettings(url=server.url, model='m', key=KEY)} {caplog.text}"
    assert KEY not in told


def test_no_server_a_slow_one_and_a_spent_budget_are_reasons() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    waiting = threading.Event()
    with serving(lambda handler, _: waiting.wait(20) and None) as server:
        slow = judge_at(server.url, timeout_seconds=0.2).judge(REQUEST)
        waiting.set()
    with serving(answering(completion(REPLY))) as server:
        spent = judge_at(server.url, tokens=99).judge(REQUEST)

    gone = judge_at(nobody, timeout_seconds=5).judge(REQUEST)
    reasons = [one.reason for one in (gone, slow, spent) if isinstance(one, JudgeFailure)]
    assert len(reasons) == 3 and "reached" in reasons[0] and "0.2 seconds" in reasons[1]
    assert "budget" in reasons[2] and not server.asked


@pytest.mark.parametrize(
    "url",
    [
        "http://models.example/v1",
        "https://models.example/v1",
        "https://a:b@localhost/v1",
        "file:///x",
    ],
)
def test_texts_leave_this_machine_only_over_https_to_a_host_that_is_named(url: str) -> None:
    with pytest.raises(ConfigError):
        JudgeSettings(url=url, model="m")

    JudgeSettings(url="https://models.example/v1", model="m", hosts=frozenset({"models.example"}))
    JudgeSettings(url="http://[::1]:8080/v1", model="m")


def test_a_key_comes_from_the_environment_or_a_file_that_only_its_owner_reads(
    tmp_path: Path,
) -> None:
    url, file = "http://localhost/v1", tmp_path / "key"
    file.write_text(KEY + "\n")
    named = {"PROVENANCEGUARD_JUDGE_KEY_FILE": str(file)}
    file.chmod(0o644)
    with pytest.raises(ConfigError) as refused:
        settings_from(url, "m", named)
    file.chmod(0o600)

    assert settings_from(url, "m", named).key == KEY
    assert settings_from(url, "m", {"PROVENANCEGUARD_JUDGE_KEY": KEY}).key == KEY
    assert KEY not in str(refused.value)


def test_without_the_extra_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ComponentUnavailable, match="judge"):
        judge_at("http://localhost/v1")
