"""Whether a captured output is evidence, and the reason when it is not or only in part."""

from __future__ import annotations

import re

from core.capture.readable.structured import Unfolded
from core.records import SourceStatus

_ERROR = re.compile(
    r"\s*(?:<error>\s*)?(?:Error (?:executing|calling|running|invoking)\b|Tool call timed out|"
    r"Tool (?:execution|call) (?:failed|error)|Traceback \(most recent call last\)|MCP error -?\d+|"
    r"Input validation error|Unknown tool\b|Invalid arguments for tool)",
    re.I,
)
# Only a short output is an error by these openings: an article may begin with them as well.
_SHORT_ERROR = re.compile(
    r"\s*(?:(?:[A-Z]\w*)?(?:Error|Exception)\s*:|Failed to (?:fetch|retrieve|connect|load|execute|call|"
    r"get|parse|initialize|launch|open|read)\b|(?:Request|Operation|Connection|Tool)\s+timed? ?out|"
    r"(?:HTTP )?(?:Error )?[45]\d\d\s(?:[A-Z]|Client|Server)|Timeout\b)"
)
_ERROR_FIELD = re.compile(
    r'^(?:error|errors|error_message)(?:\.\w+)*: (?!null$|None$|false$|""$|\[\]|\{\})', re.M
)
# The flags by which services say that a call came to nothing, whatever else they give back.
_FLAGS = re.compile(
    r"^(?P<key>(?:is_?)?(?:success(?:ful)?|succeeded|ok)|(?:\S+\.)?is_?error|status|outcome|"
    r"(?:\S+\.)?(?:return|exit|status|response)_?code|http_?status): (?P<said>.*?)\s*$",
    re.M | re.I,
)
# "failed" may be what a record says of a job: it is the call's own where a message explains it.
_FAILED = re.compile(r"error|fail(?:ed|ure)?|[45]\d\d(?:\b.*)?", re.I)
_EXPLAINED = re.compile(
    r"^(?:message|msg|detail|reason|description|title|stderr|code): ", re.M | re.I
)
_OUTCOME = re.compile(
    r"\s*resource(?:Type)?: OperationOutcome\b.*^issue\.severity: (?:error|fatal)$", re.M | re.S
)
# How a program, a server or a page says it in the first line, and an interpreter in the last one.
_FAILED_OPENING = re.compile(
    r"\s*(?:(?:process )?exit(?:ed with)?(?: code| status)?:? (?!0\b)-?\d+|HTTP/[\d.]+ [45]\d\d|"
    r"(?:<!doctype[^>]*>|<html[^>]*>|<head[^>]*>|\s)*<title>\s*(?:Error )?[45]\d\d\b)",
    re.I,
)
_TRACEBACK = re.compile(
    r"^\s*Traceback \(most recent call last\):(?:.*\n)+(?:[\w.]+)(?:Error|Exception|Exit|Interrupt)\b"
    r".*\s*\Z",
    re.M,
)
_SHORT = 1_500
_TRUNCATED = re.compile(
    r"[\[(<…][^\[\](<>\n]{0,60}\btruncated\b[^\[\](<>\n]{0,80}[\])>…]|\.\.\.\s*truncated\b|"
    r"(?:content|output|response|result|text) (?:was |has been |is )?truncated(?:\.|$| to \d| at \d)|"
    r"\[\.{3}\s*\d[\d,]* (?:more )?(?:characters|chars|tokens|bytes|lines)",
    re.I,
)


def status_of(
    output: str, text: str, unfolded: Unfolded, failed: bool, truncated: bool
) -> tuple[SourceStatus, str | None]:
    """Whether an output is evidence, and the reason when it is not or only in part."""
    if unfolded.waiting:
        return SourceStatus.NOT_CAPTURED, "the tool asked for input; this is not its result"
    if failed or unfolded.error:
        return SourceStatus.ERROR, "the tool reported an error"
    if not text.strip():
        return SourceStatus.EMPTY, "the output is empty"
    if reports_error(text):
        return SourceStatus.ERROR, "the output is an error message"
    if unfolded.cut or breaks_off(output, unfolded):
        return SourceStatus.TRUNCATED, "the output breaks off before its end"
    if truncated or _TRUNCATED.search(text):
        return SourceStatus.TRUNCATED, "the output was truncated"
    return SourceStatus.OK, None


def reports_error(text: str) -> bool:
    """Whether an output is an error message and nothing else."""
    if _ERROR.match(text) or _TRACEBACK.search(text) or _OUTCOME.match(text):
        return True
    if len(text) > _SHORT:
        return False
    fields = "\n\n" not in text and _ERROR_FIELD.search(text)
    opening = _SHORT_ERROR.match(text) or _FAILED_OPENING.match(text)
    return bool(opening or fields or _flagged(text))


def _flagged(text: str) -> bool:
    """Whether the flags of an output say that it failed: each that it has, where there are several."""
    flags: dict[str, list[bool]] = {}
    for flag in _FLAGS.finditer(text):
        key, said = flag["key"].casefold(), flag["said"].casefold()
        if key.endswith("error"):
            failed = said == "true"
        elif key.endswith("code") and not key.startswith(("status", "response")):
            failed = said not in ("0", "null", "none", "")
        elif key.endswith(("code", "status", "outcome")):
            explained = said == "error" or key.endswith("code") or _EXPLAINED.search(text)
            failed = bool(_FAILED.fullmatch(said) and explained)
        else:
            failed = said == "false"
        flags.setdefault(key, []).append(failed)
    return any(all(said) for said in flags.values())


def breaks_off(output: str, unfolded: Unfolded) -> bool:
    """Whether an output that could not be read as structure looks like one that was cut."""
    return not unfolded.changed and output.lstrip().startswith(('{"', '[{"', "meta=None content=["))
