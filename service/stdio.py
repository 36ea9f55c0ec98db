"""An MCP server on stdin and stdout, which tells its tools while the models are still loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from core.config import Config
from service.mcp_server import mcp_server
from service.requests import Limits

if TYPE_CHECKING:
    from core.pipeline import Models
    from service.verbs import Verbs


def serve_stdio(
    load: Callable[[], Models], config: Config, limits: Limits, judge: str | None
) -> None:
    """Serve until the client hangs up; a call waits for the models, and says why there are none."""
    asyncio.run(_serve(load, config, limits, judge))


async def _serve(
    load: Callable[[], Models], config: Config, limits: Limits, judge: str | None
) -> None:
    def verbs() -> Verbs:
        from core.workflows.batching import BatchingVerifier
        from service.verbs import Verbs

        return Verbs(BatchingVerifier(load(), config, most_waiting=limits.most_waiting), limits)

    loading = asyncio.create_task(asyncio.to_thread(verbs))
    try:
        # One call that is given up must not end the loading for all.
        await mcp_server(lambda: asyncio.shield(loading), judge).run_stdio_async()
    finally:
        with suppress(Exception):
            (await loading).verifier.close()
