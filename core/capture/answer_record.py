"""An answer with its outputs, as the services take it: ``question``, ``answer``, ``tool_outputs``."""

from __future__ import annotations

from collections.abc import Mapping

from core.capture.files import write_json
from core.capture.outputs import id_key
from core.codec import Fields
from core.records import JsonObject, SourceStatus

_NAMES = {
    "question": "user_question",
    "answer": "final_reply_to_user",
    "tool_outputs": "full_tool_outputs",
}
_NAMED = {"question_id", "trace_id", "task_id"}
_OUTPUTS_AT = "tool_outputs"


def is_answer_record(value: object) -> bool:
    """Whether a value is such a record, and no native one."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("answer"), str)
        and isinstance(value.get(_OUTPUTS_AT), list)
        and "full_tool_outputs" not in value
    )


def native_of(record: JsonObject) -> JsonObject:
    """The native record of it: outputs of one tool stay sources of their own, unless ids join them.

    Raises BadRecord naming the path of a wrong value.
    """
    native = {_NAMES.get(key, key): item for key, item in record.items()}
    if (own := id_key(record)) is not None and not _NAMED & native.keys():
        native["question_id"] = str(native.pop(own))
    seen: set[str] = set()
    outputs = []
    for output in Fields(record, "").objects(_OUTPUTS_AT):
        given = output.optional_string("source_id")
        tool = output.string("tool_name")
        output.read(SourceStatus | None, "status")
        name = given or output.optional_string("call_id") or tool
        number, source_id = 1, name
        while source_id in seen and given is None:
            number += 1
            source_id = f"{name}#{number}"
        seen.add(source_id)
        fields = {key: item for key, item in output.value.items() if item is not None}
        for key in ("text", "arguments"):
            if isinstance(fields.get(key), Mapping | list):
                fields[key] = write_json(fields[key])
            elif key == "text":
                output.string(key)
        outputs.append({**fields, "source_id": source_id})
    return {**native, "full_tool_outputs": outputs}
