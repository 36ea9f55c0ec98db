"""A stock MCP client and the served verifier: two real processes, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from lexical import lexical_models
from serving import ANSWER, OUTPUTS, ROOT, SENT, service

from core.config import Config
from core.workflows.batching import BatchingVerifier

mcp = pytest.importorskip("mcp", reason="the official package mcp is not installed")
pytest.importorskip("fastapi", reason="the extra [service] is not installed")
TOOLS = {"verify_answer", "audit_citations", "explain_claim"}


def talk(target: object, work: Callable[[Any], Awaitable[object]], **more: Any) -> Any:
    """What the work gives with a client of the official package."""

    async def run() -> object:
        async with mcp.Client(target, **more) as client:
            return await work(client)

    # In a thread of its own: the browser tests leave an event loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(asyncio.wait_for(run(), 120))).result()


def stdio(*more: str) -> object:
    arguments = ["-m", "cli", "serve", "mcp", *more]
    return mcp.StdioServerParameters(command=sys.executable, args=arguments, cwd=str(ROOT))


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.stress)])
def test_a_stock_client_gets_verdicts_places_reasons_and_a_repair_over_stdio(mode: str) -> None:
    steps: list[str] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message or "")

    async def work(client: Any) -> tuple[Any, ...]:
        tools = (await client.list_tools()).tools
        verdict = await client.call_tool(
            "verify_answer", {**SENT, "repair": True}, progress_callback=told
        )
        first = verdict.structured_content["claims"][0]
        asked = {"verdict_id": verdict.structured_content["verdict_id"]}
        explained = await client.call_tool(
            "explain_claim", {**asked, "claim_id": first["claim_id"]}
        )
        cited = await client.call_tool("audit_citations", SENT)
        trace = {"full_tool_outputs": OUTPUTS, "assistant_answer": ANSWER}
        again = await client.call_tool("verify_answer", {"trace": [trace]})
        return tools, verdict, explained, cited, again

    tools, verdict, explained, cited, again = talk(stdio(), work, mode=mode)

    assert {tool.name for tool in tools} == TOOLS
    assert all(tool.output_schema["properties"] for tool in tools)
    found = verdict.structured_content
    assert found["decision"] == "block" and found["reasons"]
    dose, egfr = found["claims"][0], found["claims"][1]
    assert dose["source_id"] == "load_patient_history"
    for place in (dose["place"], *dose["evidence"]):
        text = ANSWER if place["source_id"] is None else OUTPUTS[0]["text"]
        assert text[place["start"] : place["end"]] == place["text"]
    assert egfr["decision"] == "block" and egfr["reasons"]
    assert found["repair"]["state"] == "proposal"
    revised = found["repair"]["revised_answer"] or ""
    assert "91" not in revised or (
        "[not confirmed]" in revised and found["repair"]["decision_after"] == "block"
    )
    assert steps[0] == "waiting" and steps[-1] == "done" and "repairing" in steps
    assert explained.structured_content["claim"] == dose
    assert explained.structured_content["ranking"][0]["source_id"] == "load_patient_history"
    assert cited.structured_content["counts"]
    one = again.structured_content["claims"][1]
    assert one["verdict"] == egfr["verdict"]
    assert one["support_probability"] == egfr["support_probability"]


@pytest.mark.stress
def test_tools_are_told_before_models_are_there_and_a_call_says_why_there_are_none(
    tmp_path: Path,
) -> None:
    async def work(client: Any) -> tuple[Any, Any]:
        return (await client.list_tools()).tools, await client.call_tool("verify_answer", SENT)

    tools, verdict = talk(stdio("--calibrator", str(tmp_path / "none")), work)

    assert {tool.name for tool in tools} == TOOLS
    assert verdict.is_error and "none" in verdict.content[0].text


def test_limits_and_bad_input_are_told_with_their_place_and_quote_nothing() -> None:
    from service.mcp_server import mcp_server
    from service.requests import Limits
    from service.verbs import Verbs

    async def ready() -> Verbs:
        return Verbs(verifier, Limits(most_bytes=5_000))

    async def work(client: Any) -> list[Any]:
        return [
            await client.call_tool("verify_answer", asked)
            for asked in (
                {"answer": ANSWER},
                {"trace": {"full_tool_outputs": [{"tool_name": "t", "text": None}]}},
                {"trace": "{not json"},
                {**SENT, "answer": ANSWER * 100},
            )
        ] + [await client.call_tool("explain_claim", {"verdict_id": "x", "claim_id": "c"})]

    async def late(client: Any) -> list[Any]:
        return [await client.call_tool("verify_answer", SENT)]

    with BatchingVerifier(lexical_models(), Config()) as verifier:
        replies = talk(mcp_server(ready, None), work)
    replies[4:4] = talk(stdio("--seconds", "0.001"), late)

    said = [reply.content[0].text for reply in replies]
    assert all(reply.is_error for reply in replies)
    assert "answer and tool_outputs belong together" in said[0]
    assert "trace[0].full_tool_outputs[0].text: expected text, found null" in said[1]
    assert "not valid JSON" in said[2]
    assert said[3].endswith(": larger than 5,000 bytes")
    assert said[4].endswith(": no verdict within 0.001 s")
    assert "not kept" in said[5]
    assert not any("Rosa" in each or "Traceback" in each for each in said)


def test_over_http_a_token_is_needed_and_a_call_can_be_cancelled(tmp_path: Path) -> None:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    with service("mcp", "--http", "127.0.0.1:0", "--tokens", tmp_path / "t") as (process, address):
        token = (tmp_path / "t").read_text().strip()
        refused = httpx2.post(address, json={})
        strange = httpx2.post(address, json={}, headers={"Host": "evil.example"})

        async def work(client: Any) -> Any:
            many = [
                asyncio.create_task(client.call_tool("verify_answer", {**SENT, "question": str(n)}))
                for n in range(5)
            ]
            await client.list_tools()
            many[-1].cancel()
            return await asyncio.gather(*many, return_exceptions=True)

        async def with_token() -> list[Any]:
            headers = {"Authorization": f"Bearer {token}"}
            async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
                transport = streamable_http_client(address, http_client=http)
                async with mcp.Client(transport) as client:
                    found: list[Any] = await work(client)
                    return found

        with ThreadPoolExecutor(1) as pool:
            replies = pool.submit(lambda: asyncio.run(with_token())).result(120)
        assert process.poll() is None

    assert (tmp_path / "t").stat().st_mode & 0o077 == 0
    assert refused.status_code == 401 and refused.headers["WWW-Authenticate"] == "Bearer"
    assert strange.status_code == 421
    assert isinstance(replies[-1], asyncio.CancelledError)
    support = {
        tuple(claim["support_probability"] for claim in one.structured_content["claims"])
        for one in replies[:-1]
    }
    assert len({one.structured_content["verdict_id"] for one in replies[:-1]}) == 4
    assert len(support) == 1  # whatever batches they were read in
