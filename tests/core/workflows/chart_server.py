"""A real MCP server for the recorder's tests: one chart, one search with two sources, one failure.

Run with ``stdio``, or with ``http PORT [json] [stateless]``.
"""

from __future__ import annotations

import sys

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("chart-server")


class Medication(BaseModel):
    """One line of a chart."""

    drug: str
    dose_mg: float


@server.tool()
def load_chart(mrn: str) -> list[Medication]:
    """The medications of a patient."""
    return [Medication(drug="metformin", dose_mg=500.5), Medication(drug=f"of {mrn}", dose_mg=1)]


@server.tool()
def search(words: str) -> str:
    """A long text."""
    return f"Results for {words}: " + "a usual dose is 500 mg; " * 400


@server.tool()
def broken(mrn: str) -> str:
    """Fails."""
    raise ValueError(f"no patient {mrn}")


@server.tool()
async def slow(context: Context) -> str:
    """Reports how far it is before it answers."""
    for step in range(3):
        await context.report_progress(step, 3)
    return "done after three steps"


if __name__ == "__main__":
    print("chart server starts", file=sys.stderr, flush=True)
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run(
            "streamable-http",
            port=int(sys.argv[2]),
            json_response="json" in sys.argv,
            stateless_http="stateless" in sys.argv,
        )
