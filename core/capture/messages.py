"""Messages of any dialect as turns: the one place that knows how they spell text, call and output.

Chat completions, Responses items, Anthropic blocks, Inspect, LangChain (``kwargs``, ``data``), GenAI
parts, Gemini and ADK contents, Pydantic AI, Bedrock Converse and AI SDK parts differ in names alone:
a part says something, calls a tool, gives back an output, or is none of these and is told about.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence

from core.capture.files import parse_record
from core.capture.outputs import CapturedCall, CapturedCitation, written
from core.capture.readable.nodes import Kind, NotStructured
from core.capture.readable.repr_text import parse_repr
from core.capture.span_attributes import parsed
from core.capture.turns import Called, Returned, Said, Turn, pair_calls
from core.codec import json_kind
from core.errors import BadRecord
from core.text.citation_marks import covered

Fields = Mapping[str, object]

ROLES = {
    "assistant": "assistant", "ai": "assistant", "model": "assistant", "gpt": "assistant",
    "aimessage": "assistant", "aimessagechunk": "assistant", "response": "assistant",
    "user": "user", "human": "user", "humanmessage": "user", "request": "user",
    "system": "system", "developer": "system", "systemmessage": "system",
    "tool": "tool", "function": "tool", "toolmessage": "tool", "functionmessage": "tool",
    "tool_response": "tool", "tool_result": "tool", "tool_output": "tool", "toolresult": "tool",
    "observation": "tool", "environment": "tool", "ipython": "tool",
    "tool_call": "call", "function_call": "call", "tool_calls": "call",
}  # fmt: skip
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
_ANSWERED_LATER = (
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
    "tool_call",
)
_SECRET = {"encrypted_content", "encrypted_index", "encrypted_stdout", "signature"}
_TAGGED_CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.S)
_TAGGED_OUTPUT = re.compile(r"<tool_response>\s*(.*?)\s*(?:</tool_response>|\Z)", re.S)
_PLAIN = {"type", "text", "logs", "annotations", "citations", "cache_control"}
_FAILED = ("error", "failed", "failure", "output-error", "cancelled", "denied")


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

    @property
    def notices(self) -> tuple[str, ...]:
        """What was passed over."""
        return tuple(f"blocks of the type {kind} were not understood" for kind in self.unknown)

    def calls_in(self, turns: Sequence[Turn]) -> list[CapturedCall]:
        """What some first turns had before them: the calls, and the documents given until then."""
        given = sum(place < len(turns) for place in self.places)
        return [*pair_calls(turns), *self.documents[:given]]

    def read(self, message: object, path: str) -> None:
        """Take one message or item; raises BadRecord naming the path of a wrong value."""
        if not isinstance(message, Mapping):
            raise BadRecord(f"expected an object, found {json_kind(message)}", path=path)
        message = bare(message)
        role = role_of(message)
        if role is None and "observation" in message:
            self.turns.extend(_step(message))
        elif role in (None, "call", "tool") and _is_item(message):
            self._part(message, "assistant", path, [])
        elif role is None:
            self._strange(message, path)
        elif role == "tool":
            self._outputs(message, path)
        elif role == "call":
            self.turns.extend(_spoken_calls(_content(message), message))
        else:
            self._speech(message, role, path)

    def _strange(self, message: Fields, path: str) -> None:
        kind = message.get("type")
        if isinstance(kind, str) and kind and "role" not in message:
            if not _NO_EVIDENCE.search(kind):
                self.unknown[kind] = None
            return
        raise BadRecord(f"unknown role {message.get('role')!r}", path=f"{path}.role")

    def _speech(self, message: Fields, role: str, path: str) -> None:
        """A message of a participant: its texts and, in their places, its calls and outputs."""
        content = _content(message)
        if isinstance(content, Mapping):
            content = [content]
        if content is not None and not isinstance(content, str | list):
            where = f"{path}.content"
            raise BadRecord(f"expected text or parts, found {json_kind(content)}", path=where)
        calls = list(_calls(message, path)) if role == "assistant" else []
        texts: list[tuple[str, Fields]] = []
        for index, part in enumerate([content] if isinstance(content, str) else content or ()):
            if isinstance(part, str) and not (self._blocks and isinstance(content, list)):
                texts.append((part, message))
            elif isinstance(part, Mapping):
                self._part(part, role, f"{path}.content[{index}]", texts)
            else:
                where = f"{path}.content[{index}]"
                raise BadRecord(f"expected an object, found {json_kind(part)}", path=where)
        self._say(role, texts, calls, message)

    def _part(self, part: Fields, role: str, path: str, texts: list[tuple[str, Fields]]) -> None:
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
            self._say(role, texts, [turn for turn in turns if isinstance(turn, Called)], {})
            texts.clear()
        self.turns.extend(turns)

    def _acts(self, part: Fields, kind: str) -> Iterator[Turn]:
        """The call and the output that a part tells of."""
        if _OUTPUT.search(kind):
            yield _returned(part)
        elif kind == "executableCode" or kind == "executable_code":
            yield Called(tool="code_execution", call_id=None, arguments=written(part[kind]))
        elif kind == "codeExecutionResult" or kind == "code_execution_result":
            yield Returned(call_id=None, output=written(part[kind]))
        elif _CALL.search(kind):
            yield from _called(part, kind)
        elif kind in ("search_result", "document"):
            self.places.append(len(self.turns))
            name = str(len(self.documents))
            document = CapturedCall(tool="document", call_id=name, output=written([part]))
            self.documents.append(document)
        else:
            self.unknown[kind or "unnamed"] = None

    def _say(
        self,
        role: str,
        texts: Sequence[tuple[str, Fields]],
        calls: Sequence[Turn],
        message: Fields,
    ) -> None:
        text, citations = "", list[CapturedCitation]()
        spoken: list[Turn] = list(calls)
        for said, part in texts:
            if role == "user" and "<tool_response>" in said:
                found = _TAGGED_OUTPUT.finditer(said)
                self.turns.extend(Returned(call_id=None, output=one[1]) for one in found)
                said = _TAGGED_OUTPUT.sub("", said).strip()
            if role == "assistant" and "<tool_call>" in said:
                for tagged in _TAGGED_CALL.finditer(said):
                    spoken.extend(_spoken_calls(tagged[1], {}))
                said = _TAGGED_CALL.sub("", said).strip()
            text += "\n" if text and not (self._blocks and role == "assistant") else ""
            citations += self._citations(part, len(text), said)
            text += said
        if text.strip():
            self.turns.append(
                Said(
                    role=role,
                    text=text,
                    calls_tools=bool(spoken) and role == "assistant",
                    citations=tuple(citations),
                )
            )
        if message or len(spoken) > len(calls):
            self.turns.extend(spoken if message else spoken[len(calls) :])

    def _citations(self, part: Fields, start: int, said: str) -> Iterator[CapturedCitation]:
        """What the provider says a text rests on; without a position it is the whole text."""
        for key in ("citations", "annotations"):
            given = part.get(key)
            for item in given if isinstance(given, list) else ():
                if isinstance(item, Mapping):
                    inner = item.get(str(item.get("type")))
                    fields: Fields = inner if isinstance(inner, Mapping) else item
                    yield self._citation(fields, start, said)

    def _citation(self, fields: Fields, start: int, said: str) -> CapturedCitation:
        begin, end = fields.get("start_index"), fields.get("end_index")
        place = fields.get("cited_text")  # Inspect: where the cited words stand in the answer
        if isinstance(place, list) and len(place) == 2:
            begin, end = place
        at, file = fields.get("index"), text_in(fields, "file_id")
        if file and isinstance(at, int) and 0 <= at <= len(said):
            span = covered(said, at, at)
            begin, end = span.start, span.end
        if not isinstance(begin, int) or not isinstance(end, int):
            begin, end = 0, len(said)
        index = fields.get("document_index")
        url = text_in(fields, "url", "uri", "source") or file
        known = isinstance(index, int) and 0 <= index < len(self.documents) and url is None
        title = text_in(fields, "title", "document_title", "filename")
        return CapturedCitation(
            start=start + begin,
            end=start + end,
            text=title or url or "citation",
            url=url,
            source_id=f"document#{index}" if known else None,
        )

    def _outputs(self, message: Fields, path: str) -> None:
        """A message of a tool; a definition or a call that was logged in its place is no output."""
        content = _content(message)
        if isinstance(content, str) and "<tool_response>" in content:
            found = _TAGGED_OUTPUT.finditer(content)
            self.turns.extend(Returned(call_id=None, output=one[1]) for one in found)
            return
        parts = content if isinstance(content, list) else []
        acting = [p for p in parts if isinstance(p, Mapping) and _OUTPUT.search(kind_of(p))]
        if acting:
            for part in acting:
                self.turns.append(_returned(part))
            return
        if text_in(message, *_IDS[:-1]) is None:
            logged = parsed(content)
            items = logged if isinstance(logged, list) else [logged]
            if all(map(is_definition, items)):
                self.unknown["tool definition logged as a message"] = None
                return
            if all(map(_is_logged_call, items)):
                self.turns.extend(_call(item) for item in items if isinstance(item, Mapping))
                return
        returned = _returned({**message, "content": content}, named=True)
        masked = message.get("masked") is True
        self.turns.append(dataclasses.replace(returned, output=None) if masked else returned)


def bare(message: Fields) -> Fields:
    """A message without what frameworks and logs put around it."""
    identity = message.get("id")
    for key in ("kwargs", "data", "message"):
        inner = message.get(key)
        if isinstance(inner, Mapping) and ("content" in inner or "tool_calls" in inner):
            named = identity[-1] if isinstance(identity, list) and identity else None
            kind = named or inner.get("role") or inner.get("type") or message.get("type")
            return {**inner, "role": kind}
    content = message.get("content")
    if isinstance(content, Mapping) and isinstance(content.get("parts"), list):
        author = "user" if message.get("author") == "user" else "model"
        return {"role": author, **content}  # an event or a candidate around its content
    kind = message.get("kind")
    return {"role": kind, **message} if isinstance(message.get("parts"), list) and kind else message


def role_of(message: Fields) -> str | None:
    """user, assistant, system, tool or call, where the message names one of them."""
    for key in ("role", "from", "type"):
        role = message.get(key)
        if isinstance(role, str) and role.lower() in ROLES:
            return ROLES[role.lower()]
    return "assistant" if message.get("type") == "message" and "role" not in message else None


def is_message(value: object) -> bool:
    """Whether a value is a message of some dialect."""
    if not isinstance(value, Mapping):
        return False
    message = bare(value)
    if role_of(message) is None:
        return (
            "observation" in message and text_in(message, "action", "tool", "tool_name") is not None
        )
    return any(key in message for key in (*_CONTENT, "tool_calls", "function_call"))


def _is_item(message: Fields) -> bool:
    """Whether a value is a call or an output that stands where messages stand."""
    if "role" in message or "from" in message:
        return False
    kind = kind_of(message)
    if kind in ("search_result", "document"):
        return True
    acts = bool(_CALL.search(kind) or _OUTPUT.search(kind))
    return acts and any(key in message for key in (*_NAMES, *_IDS, *_CALLS_IN, *_OUTPUTS_IN))


def kind_of(part: Fields) -> str:
    """The type of a part, or what its fields make of it when it names none."""
    for key in ("type", "part_kind"):
        kind = part.get(key)
        if isinstance(kind, str) and kind:
            return kind
    if "toolInvocation" in part:
        return "tool-invocation"
    for key in ("functionCall", "function_call", "toolUse"):
        if key in part:
            return "tool_use"
    for key in ("functionResponse", "function_response", "toolResult"):
        if key in part:
            return "tool_result"
    for key in (
        "executableCode",
        "executable_code",
        "codeExecutionResult",
        "code_execution_result",
    ):
        if key in part:
            return key
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


def is_definition(value: object) -> bool:
    """Whether a value defines a tool: how it is called, not that it was."""
    if not isinstance(value, Mapping):
        return False
    inner = value.get("function")
    fields: Fields = inner if isinstance(inner, Mapping) else value
    schema = any(key in fields for key in ("parameters", "input_schema", "inputSchema"))
    return "name" in fields and "arguments" not in fields and (schema or "description" in fields)


def _is_logged_call(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    inner = value.get("function")
    fields: Fields = inner if isinstance(inner, Mapping) else value
    kinds = ("function", "tool_call", "tool_use", "tool-call")
    named = value.get("type") in kinds or isinstance(inner, Mapping)
    return (
        named and "name" in fields and any(key in fields for key in ("arguments", "args", "input"))
    )


def _content(message: Fields) -> object:
    return next((message[key] for key in _CONTENT if key in message), None)


def _calls(message: Fields, path: str) -> Iterator[Called]:
    more = message.get("additional_kwargs")
    calls = message.get("tool_calls") or (
        more.get("tool_calls") if isinstance(more, Mapping) else None
    )
    if isinstance(calls, Mapping):
        calls = [calls]
    if calls is not None and not isinstance(calls, list):
        raise BadRecord(f"expected a list, found {json_kind(calls)}", path=f"{path}.tool_calls")
    for index, call in enumerate(calls or ()):
        if not isinstance(call, Mapping):
            where = f"{path}.tool_calls[{index}]"
            raise BadRecord(f"expected an object, found {json_kind(call)}", path=where)
        yield _call(call)
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        yield _call({"function": legacy})


def _call(call: Fields) -> Called:
    function = call.get("function")
    inner: Fields = next((m for k in _CALLS_IN if isinstance(m := call.get(k), Mapping)), call)
    name = text_in(inner, *_NAMES) or (function if isinstance(function, str) else None)
    given = next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)
    kind = str(call.get("type") or "")
    named = kind.removeprefix("tool-") if kind.startswith("tool-") and inner is call else ""
    hosted = kind.removesuffix("_call") if kind.endswith("_call") and kind != "tool_call" else ""
    return Called(
        tool=name or named or (hosted if hosted != "function" else "") or "unknown tool",
        call_id=id_in(call, inner),
        arguments=None if given is None else written(given),
        server=text_in(call, *_SERVERS) or text_in(inner, *_SERVERS),
    )


def _called(part: Fields, kind: str) -> Iterator[Turn]:
    """A call and, where the same part holds it, what came back."""
    call = _call(part)
    yield call
    inner: Fields = next((m for k in _CALLS_IN if isinstance(m := part.get(k), Mapping)), part)
    error = inner.get("error") or inner.get("errorText")
    keys = ("output", "results", "outputs", "result")
    found = next((inner[key] for key in keys if inner.get(key) is not None), None)
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
        note = "the provider does not export what this hosted tool returned"
        failed = state in _FAILED
        yield Returned(
            call_id=call.call_id, output="" if failed else None, failed=failed, note=note
        )


def _returned(part: Fields, named: bool = False) -> Returned:
    """An output; ``named`` where the part is a message, whose own id is that of no call."""
    inner: Fields = next((m for k in _OUTPUTS_IN if isinstance(m := part.get(k), Mapping)), part)
    keys = ("content",) if named else _OUTPUTS
    output = next((inner[key] for key in keys if inner.get(key) is not None), None)
    kind = output.get("type") if isinstance(output, Mapping) else None
    if isinstance(output, Mapping) and "value" in output and isinstance(kind, str):
        output = output["value"]
    elif (
        isinstance(output, Mapping)
        and inner is not part
        and set(output) in ({"result"}, {"output"})
    ):
        (output,) = output.values()
    error = inner.get("error")
    if not output and error:
        output = error.get("message") if isinstance(error, Mapping) else error
    typed = isinstance(output, Mapping) and str(output.get("type")).endswith("_error")
    states = (inner.get("status"), inner.get("state"), inner.get("outcome"))
    failed = any(inner.get(k) is True for k in ("is_error", "isError")) or bool(error) or typed
    return Returned(
        call_id=id_in({k: v for k, v in part.items() if k != "id"} if named else part, inner),
        output=None
        if output is None and "content" not in inner and not named
        else output_text(output),
        tool=text_in(inner, "name", "toolName", "tool_name", "function"),
        failed=failed or str(kind).startswith("error") or any(one in _FAILED for one in states),
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
    if not isinstance(value, list) or not value:
        return value
    made = []
    for item in value:
        address = text_in(item, "file_id", "url") if isinstance(item, Mapping) else None
        kind = item.get("type") if isinstance(item, Mapping) else None
        hit = isinstance(item, Mapping) and ("file_id" in item or kind == "web_search_result")
        if not hit or address is None or kind in ("search_result", "document"):
            return value
        rest = {k: v for k, v in item.items() if k not in ("type", "file_id", "url", "title")}
        text = rest.pop("text", None)
        told = [f"{key}: {v}" for key, v in rest.items() if isinstance(v, str) and v]
        texts = [text] if isinstance(text, str) else told
        made.append(
            {"type": "search_result", "source": address}
            | {"title": text_in(item, "title", "filename") or address}
            | {"content": [{"type": "text", "text": one} for one in texts]}
        )
    return made


def _step(step: Fields) -> Iterator[Turn]:
    """One step of an agent's log: a thought, an action with its input, and what was observed."""
    action = next((step[key] for key in ("action", "tool", "tool_name") if step.get(key)), None)
    keys = ("action_input", "tool_input", "arguments", "args", "input", "parameters")
    given = next((step[key] for key in keys if key in step), None)
    call = (
        _call(action)
        if isinstance(action, Mapping)
        else Called(
            tool=action if isinstance(action, str) else "unknown tool",
            call_id=None,
            arguments=None if given is None else written(given),
            server=text_in(step, *_SERVERS),
        )
    )
    observed = step["observation"]
    yield call
    yield Returned(
        call_id=None, output=None if observed is None else written(observed), tool=call.tool
    )


def _spoken_calls(content: object, message: Fields) -> Iterator[Called]:
    """Calls that were logged as text: JSON, or the repr of a dictionary."""
    value = content
    if isinstance(content, str):
        try:
            value, _ = parse_record(content.encode("utf-8", "replace"))
        except BadRecord:
            value = _from_repr(content)
    items = value if isinstance(value, list) else [value]
    if items and all(isinstance(item, Mapping) for item in items):
        yield from (_call(item) for item in items if isinstance(item, Mapping))
        return
    text = content if isinstance(content, str) else None
    yield Called(
        tool=text_in(message, "name") or "unknown tool", call_id=None, arguments=text or None
    )


def _from_repr(text: str) -> object:
    try:
        node = parse_repr(text).node
    except NotStructured:
        return None
    return {
        key: item.value if item.kind is Kind.STRING else text[item.start : item.end]
        for key, item in node.members
    }


def id_in(*holders: Fields) -> str | None:
    """The id by which a call and its output find each other."""
    for key in _IDS:
        for holder in holders:
            found = holder.get(key)
            if isinstance(found, str | int) and not isinstance(found, bool) and found != "":
                return str(found)
    return None


def text_in(value: Fields, *keys: str) -> str | None:
    """The first of the fields that holds a text."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found:
            return found
    return None
