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
_FAILED_FLAG = re.compile(
    r"^(?:is_?)?(?:success(?:ful)?|succeeded|ok): false\s*$|^is_?error: true\s*$", re.M | re.I
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
    if _ERROR.match(text):
        return True
    if len(text) > _SHORT:
        return False
    fields = "\n\n" not in text and (_ERROR_FIELD.search(text) or _FAILED_FLAG.search(text))
    return bool(_SHORT_ERROR.match(text) or fields)


def breaks_off(output: str, unfolded: Unfolded) -> bool:
    """Whether an output that could not be read as structure looks like one that was cut."""
    return not unfolded.changed and output.lstrip().startswith(('{"', '[{"', "meta=None content=["))
