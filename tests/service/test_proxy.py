"""A stock MCP client, the proxy and the servers behind it: real processes over stdio."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from serving import ANSWER, ROOT

mcp = pytest.importorskip("mcp", reason="the official package mcp is not installed")
pytest.importorskip("fastapi", reason="the extra [service] is not installed")

SERVER = Path(__file__).parent / "behind_proxy.py"
OWN = {"verify_answer", "audit_citations", "explain_claim"}


class Talker:
    """A client of the official package that stays connected from test to test."""

    def __init__(self, arguments: list[str], mode: str) -> None:
        self.changes: list[str] = []
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._ready: Future[Any] = Future()
        self._over = asyncio.Event()
        started = mcp.StdioServerParameters(
            command=sys.executable,
            args=["-m", "cli", "serve", "proxy", *arguments],
            cwd=str(ROOT),
        )
        self._done = asyncio.run_coroutine_threadsafe(self._hold(started, mode), self._loop)
        self.client = self._ready.result(120)

    async def _hold(self, started: Any, mode: str) -> None:
        async def heard(message: object) -> None:
            self.changes.append(type(message).__name__)

        try:
            async with mcp.Client(started, mode=mode, message_handler=heard, cache=None) as client:
                self._ready.set_result(client)
                await self._over.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise

    def does(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        """What the work gives with the client."""

        async def run() -> Any:
            return await asyncio.wait_for(work(self.client), 240)

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(250)

    def call(self, name: str, arguments: dict[str, Any] | None = None, **more: Any) -> Any:
        """The result of one tool."""
        return self.does(lambda client: client.call_tool(name, arguments or {}, **more))

    def close(self) -> None:
        """Hang up."""
        self._loop.call_soon_threadsafe(self._over.set)
        self._done.result(60)


@contextmanager
def talking(arguments: list[str], mode: str = "auto") -> Iterator[Talker]:
    talker = Talker(arguments, mode)
    try:
        yield talker
    finally:
        talker.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("proxy")


@pytest.fixture(scope="module")
def talker(folder: Path) -> Iterator[Talker]:
    """A client of a proxy before two servers, whose calls are also kept in a file."""
    servers = {
        name: {"command": sys.executable, "args": [str(SERVER), name, str(folder)]}
        for name in ("ehr", "notes")
    }
    settings = folder / "servers.json"
    settings.write_text(json.dumps({"mcpServers": servers}))
    more = ["--log", str(folder / "passed.jsonl"), "--most-bytes", "100000"]
    with talking(["--config", str(settings), *more]) as found:
        yield found


def in_conversation(name: str) -> dict[str, Any]:
    return {"meta": {"provenanceguard/conversation": name}}


def test_tools_pass_and_names_that_clash_stand_behind_their_server(talker: Talker) -> None:
    tools = {tool.name: tool for tool in talker.does(lambda client: client.list_tools()).tools}

    clashing = {"ehr__lookup", "notes__lookup", "notes__verify_answer"}
    assert clashing | OWN | {"load_patient_history"} <= set(tools)
    assert "lookup" not in tools
    assert "answer" in tools["verify_answer"].input_schema["properties"]
    assert "tool_outputs" not in tools["verify_answer"].input_schema["properties"]
    assert tools["verify_answer"].output_schema["properties"]["claims"]
    assert talker.call("ehr__lookup", {"word": "dose"}).content[0].text == "dose as ehr tells it."
    liked = talker.call("notes__verify_answer", {"answer": "x"})
    assert liked.content[0].text == "notes likes it"
    assert "These are the tools of ehr." in talker.client.instructions


def test_the_answer_alone_is_verified_against_what_the_servers_said(talker: Talker) -> None:
    one, other = in_conversation("one"), in_conversation("other")
    steps: list[str] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message or "")

    chart = talker.call("load_patient_history", {"mrn": "17"}, **one)
    verdict = talker.call(
        "verify_answer", {"answer": ANSWER, "question": "Which dose?"},
        progress_callback=told, **one,
    ).structured_content  # fmt: skip
    dose, egfr = verdict["claims"][:2]
    explained = talker.call(
        "explain_claim", {"verdict_id": verdict["verdict_id"], "claim_id": dose["claim_id"]}
    )
    cited = talker.call("audit_citations", {"answer": ANSWER}, **one)
    elsewhere = talker.call("verify_answer", {"answer": ANSWER}, **other).structured_content

    assert not chart.is_error
    assert [(s["tool_name"], s["status"]) for s in verdict["sources"]] == [
        ("load_patient_history", "ok")
    ]
    assert verdict["decision"] == "block"
    assert dose["verdict"] == "supported"
    assert dose["source_id"].startswith("ehr/load_patient_history#")
    assert "metformin 500 mg twice daily" in dose["evidence"][0]["text"]
    assert egfr["decision"] == "block" and egfr["verdict"] != "supported"
    assert steps[0] == "waiting" and steps[-1] == "done"
    assert explained.structured_content["claim"] == dose
    assert cited.structured_content["counts"]
    assert elsewhere["sources"] == [] and elsewhere["decision"] == "unavailable"
    assert elsewhere["notices"][0] == "no tool output was captured in this conversation"


def test_what_is_forgotten_is_no_evidence_for_the_next_answer(talker: Talker) -> None:
    here = in_conversation("forgetting")
    talker.call("load_patient_history", {"mrn": "17"}, **here)
    asked = {"answer": "Her eGFR is 58."}

    first = talker.call("verify_answer", {**asked, "forget": True}, **here).structured_content
    second = talker.call("verify_answer", asked, **here).structured_content

    assert len(first["sources"]) == 1 and second["sources"] == []


def test_errors_pass_and_no_failed_or_oversized_output_is_evidence(talker: Talker) -> None:
    here = in_conversation("errors")
    failed = talker.call("broken", {"mrn": "Rosa"}, **here)
    huge = talker.call("huge", **here)

    async def unknown(client: Any) -> Any:
        with pytest.raises(mcp.MCPError) as caught:
            await client.call_tool("nothing", {})
        return caught.value

    missing = talker.does(unknown)
    wrong = talker.call("verify_answer", {"answer": 7}, **here)
    verdict = talker.call(
        "verify_answer", {"answer": "There is no patient Rosa. The usual dose is 500 mg."}, **here
    ).structured_content

    assert failed.is_error and "no patient Rosa" in failed.content[0].text
    assert len(huge.content[0].text) > 200_000
    assert missing.code == -32602
    assert wrong.is_error and wrong.content[0].text.startswith("answer: ")
    assert [(s["tool_name"], s["status"]) for s in verdict["sources"]] == [
        ("broken", "error"), ("huge", "not_captured"),
    ]  # fmt: skip
    assert verdict["decision"] == "block"


def test_progress_passes_down_and_cancellation_up(talker: Talker, folder: Path) -> None:
    steps: list[str] = []

    async def work(client: Any) -> None:
        third = asyncio.Event()

        async def told(progress: float, total: float | None, message: str | None) -> None:
            steps.append(message or "")
            if len(steps) == 3:
                third.set()

        call = asyncio.create_task(client.call_tool("slow", {}, progress_callback=told))
        await third.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        while not (folder / "cancelled").exists():
            await asyncio.sleep(0.05)
        await client.call_tool("ehr__lookup", {"word": "still here"})

    talker.does(work)

    assert steps == ["step 0", "step 1", "step 2"]


def test_resources_and_prompts_pass_and_a_resource_is_evidence(talker: Talker) -> None:
    here = in_conversation("resources")

    async def work(client: Any) -> tuple[Any, ...]:
        return (
            (await client.list_resources()).resources,
            await client.read_resource("notes://ward/1", **here),
            (await client.list_prompts()).prompts,
            await client.get_prompt("greet", {"who": "Rosa"}),
        )

    resources, note, prompts, greeting = talker.does(work)
    asked = {"answer": "She weighs 71 kg."}
    verdict = talker.call("verify_answer", asked, **here).structured_content

    assert [str(one.uri) for one in resources] == ["notes://ward/1"]
    assert note.contents[0].text == "Weight on the ward: 71 kg."
    assert [one.name for one in prompts] == ["greet"]
    assert greeting.messages[0].content.text == "Good morning, Rosa."
    assert [s["source_id"] for s in verdict["sources"]] == ["notes://ward/1"]


def test_a_client_hears_of_a_new_tool_and_can_call_it(talker: Talker) -> None:
    async def work(client: Any) -> Any:
        async with client.listen(tools_list_changed=True) as events:
            await client.call_tool("learn", {})
            await anext(aiter(events))
        return {tool.name for tool in (await client.list_tools()).tools}

    tools = talker.does(work)

    assert "learnt" in tools
    assert talker.call("learnt").content[0].text == "new"


def test_the_file_of_what_passed_is_its_owners_and_can_be_imported(
    talker: Talker, folder: Path
) -> None:
    from core.capture.reading import read_traces
    from core.records import Trace

    talker.call("load_patient_history", {"mrn": "88"})
    path = folder / "passed.jsonl"

    found = [trace for trace in read_traces([path]) if isinstance(trace, Trace)]

    assert path.stat().st_mode & 0o077 == 0
    assert len(found) == 1
    assert any(
        source.tool_name == "load_patient_history" and "88" in (source.arguments or "")
        for source in found[0].sources
    )


@pytest.mark.stress
def test_an_older_client_hears_too_and_outlives_a_server_that_ends(folder: Path) -> None:
    command = ["--", sys.executable, str(SERVER), "ehr", str(folder)]
    with talking(command, mode="legacy") as talker:
        talker.call("learn")
        tools = {tool.name for tool in talker.does(lambda client: client.list_tools()).tools}

        async def dies(client: Any) -> str:
            with pytest.raises(mcp.MCPError) as caught:
                await client.call_tool("die", {})
            return str(caught.value)

        said = talker.does(dies)
        left = {tool.name for tool in talker.does(lambda client: client.list_tools()).tools}

    assert "learnt" in tools and "lookup" in tools
    assert "ToolListChangedNotification" in talker.changes
    assert said and "Traceback" not in said
    assert left == OWN


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"mcpServers": {}}, "found none"),
        ({"mcpServers": {"a__b": {"command": "x"}}}, "a__b"),
        ({"mcpServers": {"a": {"args": []}}}, "give either command or url"),
        ({"servers": {}}, "mcpServers"),
    ],
    ids=["none", "name", "neither", "other"],
)
def test_settings_that_cannot_be_used_are_refused_with_their_place(
    tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    from core.errors import ConfigError
    from service.upstream import read_settings

    path = tmp_path / "servers.json"
    path.write_text(json.dumps(settings))

    with pytest.raises(ConfigError, match=said):
        read_settings(path)
