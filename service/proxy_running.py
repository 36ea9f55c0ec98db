"""Start the proxy: servers first, so that a client need not wait for the models."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

from core.config import Config
from core.pipeline import Models
from core.workflows.batching import BatchingVerifier
from service.captured import Conversations, Room
from service.passed_log import PassedLog
from service.proxy import Proxy
from service.proxy_verbs import OwnVerbs
from service.upstream import ServerSettings
from service.verbs import Limits, Verbs


def serve_proxy(
    servers: dict[str, ServerSettings], load: Callable[[], Models], config: Config,
    limits: Limits, room: Room, log: Path | None,
) -> None:  # fmt: skip
    """The proxy on stdin and stdout, until the client hangs up; raises ComponentUnavailable."""
    asyncio.run(_serve(servers, load, config, limits, room, log))


async def _serve(
    servers: dict[str, ServerSettings], load: Callable[[], Models], config: Config,
    limits: Limits, room: Room, log: Path | None,
) -> None:  # fmt: skip
    def warm() -> Verbs:
        return Verbs(BatchingVerifier(load(), config), limits)

    loading = asyncio.ensure_future(asyncio.to_thread(warm))
    # Whoever asks first is told what is missing; until then nobody waits for it.
    loading.add_done_callback(lambda done: done.cancelled() or done.exception())
    conversations = Conversations(room)
    with contextlib.ExitStack() as stack:
        passed = stack.enter_context(contextlib.closing(PassedLog(log))) if log else None
        try:
            await Proxy(OwnVerbs(loading, conversations), conversations, passed).run(servers)
        finally:
            with contextlib.suppress(Exception):
                (await loading).verifier.close()
