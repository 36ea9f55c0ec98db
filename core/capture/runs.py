"""Messages as frameworks store them (LangChain, OpenAI, plain text) as turns, for run exports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.capture.outputs import written
from core.capture.span_attributes import parsed
from core.capture.turns import Called, Returned, Said, Turn

_ROLES = {
    "human": "user", "user": "user", "humanmessage": "user", "ai": "assistant",
    "assistant": "assistant", "model": "assistant", "aimessage": "assistant",
    "aimessagechunk": "assistant", "system": "system", "systemmessage": "system",
    "developer": "system", "tool": "tool", "toolmessage": "tool", "function": "tool",
    "functionmessage": "tool",
}  # fmt: skip
_HOLDERS = ("messages", "generations", "message", "output", "input", "choices", "return_values")
_TEXTS = (
    "answer", "final_answer", "response", "output", "result", "question", "query", "input", "text",
    "content", "page_content", "user_input", "prompt",
)  # fmt: skip


def turns_of(value: object, role: str, depth: int = 0) -> list[Turn]:
    """The messages in a run's input or output, or its text as one message of ``role``."""
    value = parsed(value)
    if depth > 8 or value is None:
        return []
    if isinstance(value, str):
        return [Said(role=role, text=value)] if value.strip() else []
    if isinstance(value, list):
        return [turn for item in value for turn in turns_of(item, role, depth + 1)]
    if not isinstance(value, Mapping):
        return []
    message = _message(value)
    if message is not None:
        return list(_turns(*message))
    for key in _HOLDERS:
        inner = parsed(value.get(key))
        if isinstance(inner, list | Mapping) and (turns := turns_of(inner, role, depth + 1)):
            return turns
    return [Said(role=role, text=text)] if (text := text_of(value)) else []


def text_of(value: object) -> str | None:
    """The text of a run's input or output when it is a text, or an object with one text in it."""
    value = parsed(value)
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, Mapping):
        for key in _TEXTS:
            found = value.get(key)
            if isinstance(found, str) and found.strip():
                return found
        if len(value) == 1:
            return text_of(next(iter(value.values())))
    return None


def tool_output(value: object) -> tuple[str | None, str | None, bool]:
    """A tool run's output as text, the call id in it, and whether it says that the call failed."""
    given, value = value, parsed(value)
    if value is None:
        return None, None, False
    if isinstance(value, Mapping):
        inner = parsed(value.get("output")) if set(value) <= {"output", "id"} else value
        message = _message(inner) if isinstance(inner, Mapping) else None
        if message is not None and message[0] == "tool":
            fields = message[1]
            call_id, failed = fields.get("tool_call_id"), fields.get("status") == "error"
            content = fields.get("content")
            return "" if content is None else written(content), _id(call_id), failed
        if set(value) <= {"output", "id"}:
            bare = value.get("output")
            return (None if bare is None else written(bare)), None, False
    return written(given), None, False  # as it came: 1.10 stays 1.10


def _message(value: Mapping[str, object]) -> tuple[str, Mapping[str, object]] | None:
    """The role and the fields of a message; LangChain keeps them under ``kwargs`` or ``data``."""
    fields: Mapping[str, object] = value
    kind: object = value.get("role") or value.get("type")
    identity = value.get("id")
    for key in ("kwargs", "data"):
        inner = value.get(key)
        if isinstance(inner, Mapping) and ("content" in inner or "tool_calls" in inner):
            fields = inner
            kind = (
                identity[-1] if isinstance(identity, list) and identity else inner.get("type", kind)
            )
    role = _ROLES.get(str(kind).lower())
    return (role, fields) if role and ("content" in fields or "tool_calls" in fields) else None


def _turns(role: str, fields: Mapping[str, object]) -> Iterator[Turn]:
    content = fields.get("content")
    if role == "tool":
        yield Returned(
            call_id=_id(fields.get("tool_call_id")),
            output="" if content is None else written(content),
            tool=_id(fields.get("name")),
            failed=fields.get("status") == "error",
        )
        return
    text = _text_of_content(content)
    calls = list(_calls(fields)) if role == "assistant" else []
    if text.strip():
        yield Said(role=role, text=text, calls_tools=bool(calls))
    yield from calls


def _calls(fields: Mapping[str, object]) -> Iterator[Called]:
    more = fields.get("additional_kwargs")
    given = fields.get("tool_calls") or (
        more.get("tool_calls") if isinstance(more, Mapping) else None
    )
    for call in given if isinstance(given, list) else ():
        if not isinstance(call, Mapping):
            continue
        function = call.get("function")
        inner: Mapping[str, object] = function if isinstance(function, Mapping) else call
        arguments = next((inner[k] for k in ("arguments", "args", "input") if k in inner), None)
        yield Called(
            tool=_id(inner.get("name")) or "unknown tool",
            call_id=_id(call.get("id")),
            arguments=None if arguments is None else written(arguments),
        )


def _text_of_content(content: object) -> str:
    if isinstance(content, str):
        return content
    parts: Sequence[object] = content if isinstance(content, list) else ()
    texts = [part if isinstance(part, str) else part.get("text") for part in parts
             if isinstance(part, str | Mapping)]  # fmt: skip
    return "\n".join(text for text in texts if isinstance(text, str))


def _id(value: object) -> str | None:
    return str(value) if isinstance(value, str | int) and value != "" else None
