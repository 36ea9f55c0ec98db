"""What frameworks log as the input or output of a step, as turns: messages wherever they stand, or text."""

from __future__ import annotations

from collections.abc import Mapping

from core.capture.messages import Messages, is_message, kind_of
from core.capture.turns import Returned, Said, Turn
from core.capture.values import objects_in, parsed, text_in, written, written_or_none
from core.errors import BadRecord

_ASKED_IN = (
    "messages", "contents", "new_message", "llm_request", "request", "input", "message", "prompt",
    "all_messages",
)  # fmt: skip
_TOLD_IN = (
    "messages", "generations", "choices", "candidates", "new_messages", "all_messages", "message",
    "output", "content", "return_values", "result", "response", "llm_response", "data",
)  # fmt: skip
_QUESTIONS = ("question", "query", "input", "user_input", "prompt", "message", "text", "content")
_ANSWERS = (
    "answer", "final_answer", "final_output", "final_result", "response", "output", "result", "reply",
    "completion", "text", "content", "page_content", "message",
)  # fmt: skip
_DEEPEST = 8


def turns_of(value: object, role: str, unknown: dict[str, None], depth: int = 0) -> list[Turn]:
    """The messages in a step's input or output, or its text as one message of ``role``.

    ``unknown`` takes in the kinds of parts that were not understood.
    """
    value = parsed(value)
    if depth > _DEEPEST or value is None:
        return []
    if isinstance(value, str):
        return [Said(role=role, text=value)] if value.strip() else []
    if isinstance(value, list):
        if _is_content(value):
            return _read({"role": role, "content": value}, unknown)
        return [turn for item in value for turn in turns_of(item, role, unknown, depth + 1)]
    if not isinstance(value, Mapping):
        return []
    if is_message(value) or role == "assistant" and _is_call(value):
        return _read(value if is_message(value) else {"role": role, "content": [value]}, unknown)
    if isinstance(value.get("parts"), list):
        return _read({"role": role, **value}, unknown)
    for key in _ASKED_IN if role == "user" else _TOLD_IN:
        inner = parsed(value.get(key))
        if isinstance(inner, list | Mapping):
            turns = turns_of(inner, role, unknown, depth + 1)
            if turns:
                return turns
    text = _text_of(value, role)
    return [Said(role=role, text=text)] if text else []


def _text_of(value: object, role: str) -> str | None:
    """The text of an input or output when it is a text, or an object with one text in it."""
    value = parsed(value)
    if isinstance(value, str):
        return value if value.strip() else None
    if not isinstance(value, Mapping):
        return None
    named = (text_in(value, key) for key in (_QUESTIONS if role == "user" else _ANSWERS))
    found = next((text for text in named if text and text.strip()), None)
    if found is None and len(value) == 1:
        ((key, inner),) = value.items()
        return None if role != "user" and key in _QUESTIONS else _text_of(inner, role)
    return found


def tool_output(value: object) -> tuple[str | None, str | None, bool]:
    """A tool run's output as text, the call id in it, and whether it says that the call failed."""
    given, value = value, parsed(value)
    if value is None:
        return None, None, False
    if isinstance(value, Mapping):
        wrapped = set(value) <= {"output", "id"}
        inner = parsed(value.get("output")) if wrapped else value
        returned = returned_in(inner)
        if returned is not None:
            return returned.output, returned.call_id, returned.failed
        if wrapped:
            return written_or_none(value.get("output")), None, False
    return written(given), None, False  # as it came: 1.10 stays 1.10


def returned_in(value: object) -> Returned | None:
    """The output that a tool's message holds; None when the value is no such message."""
    value = parsed(value)
    if not isinstance(value, Mapping) or not is_message(value):
        return None
    turns = _read(value, {})
    return turns[0] if len(turns) == 1 and isinstance(turns[0], Returned) else None


def _read(message: object, unknown: dict[str, None]) -> list[Turn]:
    messages = Messages()
    try:
        messages.read(message, "")
    except BadRecord as error:
        unknown[f"message ({error})"] = None
    unknown.update(messages.unknown)
    return messages.turns


def _is_content(value: list[object]) -> bool:
    """Whether a list is the content of one message: texts, calls and outputs, and at least one typed."""
    typed = [part for part in objects_in(value) if not is_message(part)]
    acting = (p for p in typed if "type" in p and kind_of(p) == "text" or _is_call(p))
    return any(acting) and len(value) == len(typed)


def _is_call(value: Mapping[str, object]) -> bool:
    if "toolCallId" in value or "functionCall" in value or "toolUse" in value:
        return "result" not in value and "output" not in value
    named = text_in(value, "tool", "toolName", "tool_name", "action") is not None
    given = ("input", "args", "arguments", "tool_input", "action_input", "parameters")
    typed = value.get("type") in ("tool_call", "function_call", "tool_use", "tool-call")
    return typed or (named and any(key in value for key in given))
