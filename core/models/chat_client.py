"""The client of an OpenAI-compatible endpoint: for the judge and the editor."""

from __future__ import annotations

from typing import Any

from core.errors import ComponentUnavailable


def chat_client(what: str, url: str, *, key: str, timeout_seconds: float, retries: int) -> Any:
    """An `openai.OpenAI`; ComponentUnavailable, in the name of ``what``, without the extra `judge`."""
    try:
        import openai
    except ImportError as error:
        raise ComponentUnavailable(
            f"{what}: the package openai is not installed (pip install 'provenanceguard-workbench[judge]')"
        ) from error
    return openai.OpenAI(
        base_url=url,
        api_key=key,
        timeout=timeout_seconds,
        max_retries=retries,
        # No proxies or settings from the environment, and nobody sends us on to another host.
        http_client=openai.DefaultHttpxClient(trust_env=False, follow_redirects=False),
    )
