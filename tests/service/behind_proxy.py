"""A real MCP server for the proxy's tests; its argument is its name, and decides what it has.

Every server has ``lookup``; ``ehr`` has the chart and what goes wrong, ``notes`` a name of ours.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

name, folder = sys.argv[1], Path(sys.argv[2])
server = MCPServer(f"{name}-server", instructions=f"These are the tools of {name}.")


@server.tool()
def lookup(word: str) -> str:
    """What this server knows of a word."""
    return f"{word} as {name} tells it."


if name == "ehr":

    @server.tool()
    def load_patient_history(mrn: str) -> str:
        """A patient's chart."""
        return "Patient: Rosa Lindqvist. Medications: metformin 500 mg twice daily. eGFR 58."

    @server.tool()
    def broken(mrn: str) -> str:
        """Fails."""
        raise ToolError(f"no patient {mrn}")

    @server.tool()
    def huge() -> str:
        """More than is kept."""
        return "a usual dose is 500 mg; " * 10_000

    @server.tool()
    async def slow(context: Context) -> str:
        """Reports how far it is, and goes on until it is cancelled."""
        try:
            for step in range(3):
                await context.report_progress(step, 3, f"step {step}")
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            (folder / "cancelled").touch()
            raise
        return "done"

    @server.tool()
    async def learn(context: Context) -> str:
        """Has one tool more from now on."""
        server.add_tool(lambda: "new", name="learnt", description="Was not there before.")
        await context.notify_tools_changed()
        if context.session.protocol_version < "2026":
            await context.session.send_tool_list_changed()
        return "learnt"

    @server.tool()
    def die() -> str:
        """Ends the process."""
        os._exit(3)

else:

    @server.tool()
    def verify_answer(answer: str) -> str:
        """Not the proxy's."""
        return f"{name} likes it"

    @server.resource("notes://ward/1")
    def ward() -> str:
        """A note."""
        return "Weight on the ward: 71 kg."

    @server.prompt()
    def greet(who: str) -> str:
        """A greeting."""
        return f"Good morning, {who}."


if __name__ == "__main__":
    server.run("stdio")
