"""Messages of any dialect as turns: the one place that knows how they spell text, call and output.

Chat completions, Responses items, Anthropic blocks, Inspect, LangChain (``kwargs``, ``data``), GenAI
parts, Gemini and ADK contents, Pydantic AI, Bedrock Converse and AI SDK parts differ in names alone:
a part says something, calls a tool, gives back an output, or is none of these and is told about.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.files import parse_record
from core.capture.readable.nodes import Kind, NotStructured
from core.capture.readable.parsers import parse_repr
from core.capture.turns import Called, CapturedCall, Returned, Said, Turn, pair_calls
from core.capture.values import (
    at,
    first_in,
    items_of,
    mapping,
    objects_in,
    parsed,
    search_result,
    text_in,
    unexpected,
    written,
    written_or_none,
)
from core.errors import BadRecord
from core.records import Citation, JsonObject, Span
from core.text.citation_marks import covered

_NAMES_OF_ROLES = {
    "assistant": "assistant ai model gpt aimessage aimessagechunk response",
    "user": "user human humanmessage request",
    "system": "system developer systemmessage",
    "tool": "tool function toolmessage functionmessage tool_response tool_result tool_output "
    "toolresult observation environment ipython",
    "call": "tool_call function_call tool_calls",
}
_ROLES = {name: role for role, names in _NAMES_OF_ROLES.items() for name in names.split()}
_CONTENT = ("parts", "content", "value", "text")
# What holds the fields of a call or of an output in a part, in one dialect or another.
_CALLS_IN = (
    "functionCall", "function_call", "toolUse", "toolInvocation", "server_tool_call", "function",
    "custom",
)  # fmt: skip
_OUTPUTS_IN = ("functionResponse", "function_response", "toolResult", "toolInvocation")
_NAMES = ("name", "toolName", "tool_name", "tool")
_IDS = ("call_id", "tool_call_id", "tool_use_id", "toolCallId", "toolUseId", "id")
_ARGUMENTS = (
    "arguments", "args", "input", "parameters", "tool_input", "action_input", "action", "queries",
    "code",
)  # fmt: skip
_OUTPUTS = (
    "response", "result", "output", "content", "results", "outputs", "server_tool_call_response",
    "errorText", "text",
)  # fmt: skip
_SERVERS = ("server_name", "server", "server_label", "toolset_name", "namespace", "context")
_CALL = re.compile(
    r"tool[-_]?(?:use|call|invocation)$|_call$|^function(?:_?call)?$|^dynamic-tool$|"
    r"^tool-(?!result|return)",
    re.I,
)
_OUTPUT = re.compile(
    r"tool[-_]?(?:result|return|call[-_]response)$|_call_output$|^function_?response$|^retry-prompt$",
    re.I,
)
_TEXT = ("", "text", "output_text", "input_text", "refusal", "user-prompt", "system-prompt", "logs")
_PROMPTS = {"user-prompt": "user", "system-prompt": "system"}
_NO_EVIDENCE = re.compile(
    r"(?:redacted_)?thinking$|reasoning|^step-|^source-|^data-|image|audio|video|^file$|^media|_listing$|"
    r"^compaction|container_upload|^mcp_(?:list_tools|approval)|^item_reference$|^cachePoint$|^guard|"
    r"^(?:thought|inline_?data|file_?data|blob|uri)$|^instructions$",
    re.I,
)
_CODE, _CODE_OUTPUT = (
    ("executableCode", "executable_code"),
    ("codeExecutionResult", "code_execution_result"),
)
# The type of a part that names none, by a field that it has.
_KINDS = {
    "toolInvocation": "tool-invocation",
    **dict.fromkeys(("functionCall", "function_call", "toolUse"), "tool_use"),
    **dict.fromkeys(("functionResponse", "function_response", "toolResult"), "tool_result"),
    **{key: key for key in (*_CODE, *_CODE_OUTPUT)},
}
_DOCUMENTS = ("search_result", "document")
_ANSWERED_LATER = (
    "function_call", "custom_tool_call", "local_shell_call", "shell_call", "tool_call",
)  # fmt: skip
_SECRET = {"encrypted_content", "encrypted_index", "encrypted_stdout", "signature"}
_TAGGED_CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.S)
_TAGGED_OUTPUT = re.compile(r"<tool_response>\s*(.*?)\s*(?:</tool_response>|\Z)", re.S)
_PLAIN = {"type", "text", "logs", "annotations", "citations", "cache_control"}
_FAILED = (
    "error", "failed", "failure", "output-error", "cancelled", "denied", "retried", "retry-prompt",
)  # fmt: skip
_UNNAMED = "unknown tool"


def not_understood(kinds: Iterable[str]) -> tuple[str, ...]:
    """The notices of the kinds of parts that were passed over."""
    return tuple(f"blocks of the type {kind} were not understood" for kind in kinds)


class Messages:
    """Takes messages one after the other; what they come to is in ``turns`` and ``documents``.

    ``blocks``: content is text or typed blocks, as Anthropic has it, which cuts sentences into them.
    """

    def __init__(self, blocks: bool = False) -> None:
        self.turns: list[Turn] = []
        self.documents: list[CapturedCall] = []
        self.places: list[int] = []  # of each document: how many turns were before it
        self.unknown: dict[str, None] = {}
        self.response: str | None = None  # the answer, where the record states it by itself
        self._blocks = blocks

    def calls_in(self, turns: Sequence[Turn]) -> list[CapturedCall]:
        """What some first turns had before them: the calls, and the documents given until then."""
        given = sum(place < len(turns) for place in self.places)
        return [*pair_calls(turns), *self.documents[:given]]

    def read(self, message: object, path: str) -> None:
        """Take one message or item; raises BadRecord naming the path of a wrong value."""
        if not isinstance(message, Mapping):
            raise unexpected("an object", message, path)
        message = _bare(message)
        role = _role_of(message)
        if role is None and "observation" in message:
            self.turns.extend(_step(message))
        elif role in (None, "call", "tool") and _is_item(message):
            self._part(message, "assistant", path, [])
        elif role is None:
            self._strange(message, path)
        elif role == "tool":
            self._outputs(message)
        elif role == "call":
            self.turns.extend(_spoken_calls(_content(message), message))
        else:
            self._speech(message, role, path)

    def _strange(self, message: JsonObject, path: str) -> None:
        kind = text_in(message, "type")
        if kind is None or "role" in message:
            raise BadRecord(f"unknown role {message.get('role')!r}", path=f"{path}.role")
        if not _NO_EVIDENCE.search(kind):
            self.unknown[kind] = None

    def _speech(self, message: JsonObject, role: str, path: str) -> None:
        """A message of a participant: its texts and, in their places, its calls and outputs."""
        content = _content(message)
        if content is not None and not isinstance(content, str | list | Mapping):
            raise unexpected("text or parts", content, f"{path}.content")
        calls = list(_calls(message, path)) if role == "assistant" else []
        texts: list[tuple[str, JsonObject]] = []
        bare_texts = not (self._blocks and isinstance(content, list))
        parts = content if isinstance(content, list) else [] if content is None else [content]
        for index, part in enumerate(parts):
            if isinstance(part, str) and bare_texts:
                texts.append((part, message))
            elif isinstance(part, Mapping):
                self._part(part, role, f"{path}.content[{index}]", texts)
            else:
                raise unexpected("an object", part, f"{path}.content[{index}]")
        self._say(role, texts, calls)

    def _part(
        self, part: JsonObject, role: str, path: str, texts: list[tuple[str, JsonObject]]
    ) -> None:
        kind = kind_of(part)
        if kind in _TEXT:
            prompt = _PROMPTS.get(kind)
            text = next((part[k] for k in ("text", "content", "refusal") if k in part), None)
            if isinstance(text, str) and prompt in (None, role):
                if part.get("thought") is not True:
                    texts.append((text, part))
            elif prompt is not None:
                self._speech({"content": text}, prompt, path)
            elif text is not None or not part:
                self.unknown[kind or "unnamed"] = None
            return
        turns = [] if _NO_EVIDENCE.search(kind) else list(self._acts(part, kind))
        if turns and texts:
            self._say(role, texts, (), any(isinstance(turn, Called) for turn in turns))
            texts.clear()
        self.turns.extend(turns)

    def _acts(self, part: JsonObject, kind: str) -> Iterator[Turn]:
        """The call and the output that a part tells of."""
        if _OUTPUT.search(kind):
            yield _returned(part)
        elif kind in _CODE:
            yield Called(tool="code_execution", call_id=None, arguments=written(part[kind]))
        elif kind in _CODE_OUTPUT:
            yield Returned(call_id=None, output=written(part[kind]))
        elif _CALL.search(kind):
            yield from _called(part, kind)
        elif kind in _DOCUMENTS:
            self.places.append(len(self.turns))
            name = str(len(self.documents))
            document = CapturedCall(tool="document", call_id=name, output=written([part]))
            self.documents.append(document)
        else:
            self.unknown[kind or "unnamed"] = None

    def _say(
        self,
        role: str,
        texts: Sequence[tuple[str, JsonObject]],
        calls: Sequence[Turn],
        calls_follow: bool = False,
    ) -> None:
        """One text of a participant, its calls and those tagged in it; others may follow in its turn."""
        text, citations, spoken = "", list[Citation](), [*calls]
        for said, part in texts:
            if role == "user":
                said = self._without_outputs(said)
            if role == "assistant" and "<tool_call>" in said:
                for tagged in _TAGGED_CALL.finditer(said):
                    spoken.extend(_spoken_calls(tagged[1], {}))
                said = _TAGGED_CALL.sub("", said).strip()
            text += "\n" if text and not (self._blocks and role == "assistant") else ""
            citations += self._citations(part, len(text), said)
            text += said
        if text.strip():
            acting = role == "assistant" and (bool(spoken) or calls_follow)
            self.turns.append(
                Said(role=role, text=text, calls_tools=acting, citations=tuple(citations))
            )
        self.turns.extend(spoken)

    def _without_outputs(self, said: str) -> str:
        """A text without the outputs that were written into it in tags, which are taken in."""
        if "<tool_response>" not in said:
            return said
        found = _TAGGED_OUTPUT.finditer(said)
        self.turns.extend(Returned(call_id=None, output=one[1]) for one in found)
        return _TAGGED_OUTPUT.sub("", said).strip()

    def _citations(self, part: JsonObject, start: int, said: str) -> Iterator[Citation]:
        """What the provider says a text rests on; without a position it is the whole text."""
        for item in (*objects_in(part.get("citations")), *objects_in(part.get("annotations"))):
            inner = item.get(str(item.get("type")))
            yield self._citation(inner if isinstance(inner, Mapping) else item, start, said)

    def _citation(self, fields: JsonObject, start: int, said: str) -> Citation:
        begin, end = fields.get("start_index"), fields.get("end_index")
        place = fields.get("cited_text")  # Inspect: where the cited words stand in the answer
        if isinstance(place, list) and len(place) == 2:
            begin, end = place
        index, file = fields.get("index"), text_in(fields, "file_id")
        if file and isinstance(index, int) and 0 <= index <= len(said):
            span = covered(said, index, index)
            begin, end = span.start, span.end
        if not isinstance(begin, int) or not isinstance(end, int):
            begin, end = 0, len(said)
        url = text_in(fields, "url", "uri", "source") or file
        given = fields.get("document_index")
        known = isinstance(given, int) and 0 <= given < len(self.documents) and url is None
        return Citation(
            span=Span(start=start + begin, end=start + end),
            text=text_in(fields, "title", "document_title", "filename") or url or "citation",
            url=url,
            source_id=f"document#{given}" if known else None,
        )

    def _outputs(self, message: JsonObject) -> None:
        """A message of a tool; a definition or a call that was logged in its place is no output."""
        content = _content(message)
        if isinstance(content, str) and "<tool_response>" in content:
            self._without_outputs(content)
            return
        acting = [part for part in objects_in(content) if _OUTPUT.search(kind_of(part))]
        if acting:
            self.turns.extend(map(_returned, acting))
            return
        if text_in(message, *_IDS[:-1]) is None:
            logged = parsed(content)
            items = logged if isinstance(logged, list) else [logged]
            if all(map(_is_definition, items)):
                self.unknown["tool definition logged as a message"] = None
                return
            if all(map(_is_logged_call, items)):
                self.turns.extend(map(_call, objects_in(items)))
                return
        returned = _returned({**message, "content": content}, named=True)
        masked = message.get("masked") is True
        self.turns.append(dataclasses.replace(returned, output=None) if masked else returned)


def _bare(message: JsonObject) -> JsonObject:
    """A message without what frameworks and logs put around it."""
    for key in ("kwargs", "data", "message"):
        inner = message.get(key)
        if isinstance(inner, Mapping) and ("content" in inner or "tool_calls" in inner):
            kind = (
                at(message, "id", -1)
                or inner.get("role")
                or inner.get("type")
                or message.get("type")
            )
            return {**inner, "role": kind}
    content = mapping(message.get("content"))
    if isinstance(content.get("parts"), list):
        author = "user" if message.get("author") == "user" else "model"
        return {"role": author, **content}  # an event or a candidate around its content
    kind = message.get("kind")
    return {"role": kind, **message} if isinstance(message.get("parts"), list) and kind else message


def _role_of(message: JsonObject) -> str | None:
    """user, assistant, system, tool or call, where the message names one of them."""
    for key in ("role", "from", "type"):
        role = message.get(key)
        if isinstance(role, str) and role.lower() in _ROLES:
            return _ROLES[role.lower()]
    return "assistant" if message.get("type") == "message" and "role" not in message else None


def is_message(value: object) -> bool:
    """Whether a value is a message of some dialect."""
    if not isinstance(value, Mapping):
        return False
    message = _bare(value)
    if _role_of(message) is None:
        return (
            "observation" in message and text_in(message, "action", "tool", "tool_name") is not None
        )
    return any(key in message for key in (*_CONTENT, "tool_calls", "function_call"))


def _is_item(message: JsonObject) -> bool:
    """Whether a value is a call or an output that stands where messages stand."""
    if "role" in message or "from" in message:
        return False
    kind = kind_of(message)
    acts = bool(_CALL.search(kind) or _OUTPUT.search(kind))
    named = any(key in message for key in (*_NAMES, *_IDS, *_CALLS_IN, *_OUTPUTS_IN))
    return kind in _DOCUMENTS or (acts and named)


def kind_of(part: JsonObject) -> str:
    """The type of a part, or what its fields make of it when it names none."""
    kind = text_in(part, "type", "part_kind") or next(
        (_KINDS[k] for k in _KINDS if k in part), None
    )
    if kind is not None:
        return kind
    if "tool_use_id" in part or "toolCallId" in part and ("result" in part or "output" in part):
        return "tool_result"
    if "response" in part or "result" in part and not isinstance(part.get("text"), str):
        return "tool_result"
    if any(key in part for key in ("arguments", "function", "toolCallId")) or (
        "input" in part and text_in(part, *_NAMES)
    ):
        return "tool_call"
    strange = [k for k in part if k not in ("thought", "thoughtSignature", "thought_signature")]
    told = ("text", "content", "refusal", "json")
    return "" if not strange or any(key in part for key in told) else strange[0]


def is_foreign(message: object) -> bool:
    """Whether a message holds the typed blocks of Anthropic's calls and outputs."""
    kinds = (str(block.get("type")) for block in objects_in(mapping(message).get("content")))
    return any(kind.endswith(("tool_use", "tool_result")) for kind in kinds)


def _is_definition(value: object) -> bool:
    """Whether a value defines a tool: how it is called, not that it was."""
    fields = mapping(at(value, "function")) or mapping(value)
    told = ("parameters", "input_schema", "inputSchema", "description")
    return "name" in fields and "arguments" not in fields and any(key in fields for key in told)


def _is_logged_call(value: object) -> bool:
    inner = at(value, "function")
    fields = inner if isinstance(inner, Mapping) else mapping(value)
    kinds = ("function", "tool_call", "tool_use", "tool-call")
    named = at(value, "type") in kinds or isinstance(inner, Mapping)
    return (
        named and "name" in fields and any(key in fields for key in ("arguments", "args", "input"))
    )


def _content(message: JsonObject) -> object:
    return next((message[key] for key in _CONTENT if key in message), None)


def _calls(message: JsonObject, path: str) -> Iterator[Called]:
    calls = message.get("tool_calls") or at(message, "additional_kwargs", "tool_calls")
    if isinstance(calls, Mapping):
        calls = [calls]
    if calls is not None and not isinstance(calls, list):
        raise unexpected("a list", calls, f"{path}.tool_calls")
    for index, call in enumerate(calls or ()):
        if not isinstance(call, Mapping):
            raise unexpected("an object", call, f"{path}.tool_calls[{index}]")
        yield _call(call)
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        yield _call({"function": legacy})


def _inner(part: JsonObject, keys: Sequence[str]) -> JsonObject:
    """The object in a part that holds the fields of its call or output: the part itself, often."""
    return next((found for k in keys if isinstance(found := part.get(k), Mapping)), part)


def _call(call: JsonObject) -> Called:
    inner = _inner(call, _CALLS_IN)
    kind = str(call.get("type") or "")
    named = kind.removeprefix("tool-") if kind.startswith("tool-") and inner is call else ""
    hosted = kind.removesuffix("_call") if kind.endswith("_call") and kind != "tool_call" else ""
    return Called(
        tool=text_in(inner, *_NAMES)
        or text_in(call, "function")
        or named
        or (hosted if hosted != "function" else "")
        or _UNNAMED,
        call_id=_id_in(call, inner),
        arguments=written_or_none(first_in(inner, _ARGUMENTS)),
        server=text_in(call, *_SERVERS) or text_in(inner, *_SERVERS),
    )


def _called(part: JsonObject, kind: str) -> Iterator[Turn]:
    """A call and, where the same part holds it, what came back."""
    call = _call(part)
    yield call
    inner = _inner(part, _CALLS_IN)
    error = inner.get("error") or inner.get("errorText")
    found = first_in(inner, ("output", "results", "outputs", "result"))
    state = str(inner.get("state") or inner.get("status") or "")
    if error or found is not None:
        yield Returned(
            call_id=call.call_id,
            output=written(error) if error else output_text(_as_results(found)),
            failed=bool(error) or state in _FAILED,
            truncated=state == "incomplete",
        )
    elif kind.endswith("_call") and kind not in _ANSWERED_LATER and "server_tool_call" not in part:
        # A hosted tool is answered in its own item or not at all.
        failed = state in _FAILED
        yield Returned(
            call_id=call.call_id,
            output="" if failed else None,
            failed=failed,
            note="the provider does not export what this hosted tool returned",
        )


def _returned(part: JsonObject, named: bool = False) -> Returned:
    """An output; ``named`` where the part is a message, whose own id is that of no call."""
    inner = _inner(part, _OUTPUTS_IN)
    output = first_in(inner, ("content",) if named else _OUTPUTS)
    kind = at(output, "type")
    if isinstance(output, Mapping):
        if "value" in output and isinstance(kind, str):
            output = output["value"]
        elif inner is not part and set(output) in ({"result"}, {"output"}):
            (output,) = output.values()
    error = inner.get("error")
    if not output and error:
        output = error.get("message") if isinstance(error, Mapping) else error
    missing = output is None and "content" not in inner and not named
    states = [inner.get(key) for key in ("status", "state", "outcome", "part_kind")]
    return Returned(
        call_id=_id_in({k: v for k, v in part.items() if k != "id"} if named else part, inner),
        output=None if missing else output_text(output),
        tool=text_in(inner, "name", "toolName", "tool_name", "function"),
        failed=any(inner.get(k) is True for k in ("is_error", "isError"))
        or bool(error)
        or str(at(output, "type")).endswith("_error")
        or str(kind).startswith("error")
        or any(state in _FAILED for state in states),
        truncated="incomplete" in states,
    )


def output_text(content: object) -> str:
    """What a tool gave as text: a single text part as it is, anything else as JSON."""
    if content is None:
        return ""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        only = content[0]
        text = only.get("text") or only.get("logs")
        kind = only.get("type") in (*_TEXT, None)
        if isinstance(text, str) and kind and set(only) <= _PLAIN:
            return text
        if set(only) == {"json"}:
            return written(only["json"])
    return written(_as_results(_readable(content)))


def _readable(value: object) -> object:
    """The value without what only the provider can decrypt."""
    if isinstance(value, list):
        return [_readable(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _readable(item) for key, item in value.items() if key not in _SECRET}
    return value


def _as_results(value: object) -> object:
    """Hits of a hosted search as search results: each file or page is a source of its own."""
    made = []
    for item in items_of(value):
        address, kind = text_in(item, "file_id", "url"), at(item, "type")
        hit = "file_id" in mapping(item) or kind == "web_search_result"
        if not hit or address is None or kind in _DOCUMENTS:
            return value
        rest = {
            key: text
            for key, text in mapping(item).items()
            if key not in ("type", "file_id", "url", "title", "text")
        }
        told = [f"{key}: {text}" for key, text in rest.items() if isinstance(text, str) and text]
        text = at(item, "text")
        title = text_in(item, "title", "filename") or address
        made.append(search_result(address, title, *([text] if isinstance(text, str) else told)))
    return made or value


def _step(step: JsonObject) -> Iterator[Turn]:
    """One step of an agent's log: a thought, an action with its input, and what was observed."""
    action = next((step[key] for key in ("action", "tool", "tool_name") if step.get(key)), None)
    if isinstance(action, Mapping):
        call = _call(action)
    else:
        keys = ("action_input", "tool_input", "arguments", "args", "input", "parameters")
        call = Called(
            tool=action if isinstance(action, str) else _UNNAMED,
            call_id=None,
            arguments=written_or_none(next((step[key] for key in keys if key in step), None)),
            server=text_in(step, *_SERVERS),
        )
    yield call
    yield Returned(call_id=None, output=written_or_none(step["observation"]), tool=call.tool)


def _spoken_calls(content: object, message: JsonObject) -> Iterator[Called]:
    """Calls that were logged as text: JSON, or the repr of a dictionary."""
    value = content
    if isinstance(content, str):
        try:
            value, _ = parse_record(content.encode("utf-8", "replace"))
        except BadRecord:
            value = _from_repr(content)
    items = value if isinstance(value, list) else [value]
    calls = objects_in(items)
    if items and len(calls) == len(items):
        yield from map(_call, calls)
        return
    text = content if isinstance(content, str) else None
    yield Called(tool=text_in(message, "name") or _UNNAMED, call_id=None, arguments=text or None)


def _from_repr(text: str) -> object:
    try:
        node = parse_repr(text).node
    except NotStructured:
        return None
    return {
        key: item.value if item.kind is Kind.STRING else text[item.start : item.end]
        for key, item in node.members
    }


def _id_in(*holders: JsonObject) -> str | None:
    """The id by which a call and its output find each other."""
    for key in _IDS:
        for holder in holders:
            found = holder.get(key)
            if isinstance(found, str | int) and not isinstance(found, bool) and found != "":
                return str(found)
    return None
