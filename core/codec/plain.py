"""Any record as the JSON that reports and audits show; the stored forms have codecs of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum

from core.records import Span


def plain(value: object) -> object:
    """A record as its fields by name, a span as [start, end], a choice as its value; the rest as it is."""
    if isinstance(value, Span):
        return [value.start, value.end]
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value
