"""A judge beside a served verifier: chosen at the start, told of in counts, and no request's to choose."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import run
from judged import MODEL, contradicted, keep_replies, supported
from serving import OUTPUTS, SENT, service

from service.requests import VerifyAsked, asked, traces_of

pytest.importorskip("fastapi", reason="the extra [service] is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")


@pytest.mark.stress
def test_a_reply_says_what_the_judge_proved_and_why_it_read_nothing(tmp_path: Path) -> None:
    from core.workflows.batching import Allowed

    (trace,) = traces_of(asked(VerifyAsked, SENT), Allowed())
    chart = str(OUTPUTS[0]["text"])
    readings = {1: supported(chart), 2: contradicted(chart, "91", "58")}
    kept = keep_replies(tmp_path / "replies.jsonl", trace, readings)
    options = ("--judge", f"replay:{kept}", "--judge-for", "all", "--no-token")
    strange = {**SENT, "answer": "Rosa's eGFR is 58."}

    with (
        service("http", "--at", "127.0.0.1:0", *options) as (process, address),
        httpx.Client(base_url=address, timeout=120) as client,
    ):
        read = client.post("/v1/verify_answer", json=SENT).json()
        unread = client.post("/v1/verify_answer", json=strange).json()
        chosen = client.post("/v1/verify_answer", json={**SENT, "judge": "http://127.0.0.1:1"})
        counted = client.get("/metrics").text
        assert process.stderr is not None
        log = [process.stderr.readline() for _ in range(2)]

    first, second, third = read["claims"]
    assert (first["decision"], first["judge"]["outcome"]) == ("allow", "proved supported")
    assert (second["state"], second["judge"]["outcome"]) == ("block", "proved contradicted")
    assert third["judge"]["outcome"] == "not read" and third["judge"]["why"]
    assert f"claims that {MODEL} was asked about: 3; proved: 2" in read["notices"]
    assert f" with {MODEL} for all" in read["versions"]["pipeline"]
    assert any("claims not read by the judge: 1 (no reply" in one for one in unread["notices"])
    assert unread["claims"][0]["judge"]["by"] == MODEL
    assert (chosen.status_code, chosen.json()["path"]) == (400, "judge")
    assert 'judge_claims_total{outcome="proved supported"} 1.0' in counted
    assert log[0].startswith(f"judge {MODEL}: claims 3, ") and "replied 7" in log[0]
    assert log[1].startswith(f"judge {MODEL}: claims 1, ") and "no reply" in log[1]
    for word in ("Rosa", "eGFR", "metformin"):
        assert word not in "".join(log) + counted


@pytest.mark.parametrize("way", [("http",), ("mcp",), ("proxy", "--", "true")])
def test_every_way_to_serve_refuses_a_judge_elsewhere_at_the_start(way: tuple[str, ...]) -> None:
    url = ("--judge", "https://models.example/v1", "--judge-model", "m")

    refused = run("serve", way[0], *url, *way[1:])

    assert refused.exit_code == 2, refused.output
    assert "would be sent to models.example" in refused.stderr
