"""What commands print and write, how far a long one is, and the exit codes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.errors import InputError, UnreadableFile

DONE, GATE_BLOCKED, BAD_INPUT, UNAVAILABLE = 0, 1, 2, 3


class Progress:
    """How far a long task is, on stderr, with rate and time left; silent where nobody watches."""

    REDRAW_SECONDS = 0.1

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()
        self._started: tuple[float, int] | None = None
        self._drawn = 0.0
        self._width = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()

    def __call__(self, done: int, total: int | None, what: str) -> None:
        """Redraw the line, a few times a second at most."""
        now = time.monotonic()
        if self._started is None:
            self._started = (now, done)
        if not self.shown or (now - self._drawn < self.REDRAW_SECONDS and done != total):
            return
        self._drawn = now
        text = progress_text(done, total, what, now - self._started[0], self._started[1])
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)


def progress_text(done: int, total: int | None, what: str, seconds: float, before: int) -> str:
    """``12 of 45 traces · 1.5 a second · 22 s left``; ``before`` were done when time began."""
    text = f"{done} {what}" if total is None else f"{done} of {total} {what}"
    rate = (done - before) / seconds if seconds > 0 else 0.0
    if rate <= 0:
        return text
    text += f" · {rate:.1f} a second" if rate >= 0.1 else f" · {rate * 60:.1f} a minute"
    if total is not None and done < total:
        text += f" · {_duration((total - done) / rate)} left"
    return text


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def require(*files: Path | None) -> None:
    """Stop on a name that is mistyped, before any work is done."""
    for file in files:
        if file is not None and not file.exists():
            raise UnreadableFile("no such file", file=str(file))


def tell_skipped(reasons: Sequence[str | InputError], count: int | None = None) -> None:
    """Say on stderr what was left out, and how many more of ``count`` there were."""
    for reason in reasons:
        say(f"skipped: {reason.located() if isinstance(reason, InputError) else reason}")
    if count is not None and count > len(reasons):
        say(f"skipped: {count - len(reasons)} more")


def tell(document: Mapping[str, object], lines: Sequence[str], json_path: Path | None) -> None:
    """The result as JSON where that is asked for, and in lines for people."""
    write_json(json_path, document)
    print_lines(lines, json_path)


def write_json(path: Path | None, document: Mapping[str, object]) -> None:
    """Write the result as JSON to a file, or to stdout where ``-`` is asked for."""
    if path is None:
        return
    text = json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n"
    if str(path) == "-":
        sys.stdout.write(text)
    else:
        write_file(path, text.encode("utf-8"))


def write_file(path: Path, data: bytes) -> None:
    """Write a file and the folders above it; raises InputError where that cannot be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from None


def print_lines(lines: Sequence[str], json_path: Path | None) -> None:
    """For people: on stdout, unless that carries JSON."""
    stream = sys.stderr if json_path is not None and str(json_path) == "-" else sys.stdout
    for line in lines:
        red = line.startswith(RED) and line.endswith(PLAIN)
        plain = one_line(line.removeprefix(RED).removesuffix(PLAIN) if red else line)
        stream.write((f"{RED}{plain}{PLAIN}" if red else plain) + "\n")


def say(line: str) -> None:
    """One line on stderr, for people."""
    sys.stderr.write(one_line(line) + "\n")


RED, PLAIN = "\x1b[31m", "\x1b[0m"


def in_red(line: str) -> str:
    """A line that must not be overlooked: red where a terminal shows it."""
    return f"{RED}{one_line(line)}{PLAIN}" if sys.stdout.isatty() else line


def one_line(text: str) -> str:
    """The text without control characters: names from a trace must not steer a terminal."""
    return "".join(c if c.isprintable() else "�" for c in text)


def counted(number: int, noun: str) -> str:
    """``1 claim`` or ``3 claims``."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def metric_lines(report: Mapping[str, object], indent: str = "") -> list[str]:
    """The report for people: numbers and names, groups indented, long lists counted."""
    lines = []
    for name, value in report.items():
        shown = f"{indent}{name.replace('_', ' '):<{32 - len(indent)}}"
        if isinstance(value, Mapping):
            lines += [shown.rstrip(), *metric_lines(value, indent + "  ")]
        elif isinstance(value, list) and len(value) > 4:
            lines.append(f"{shown} {len(value)} (with --json)")
        elif not name.endswith("_sha256"):
            lines.append(f"{shown} {figure(value)}")
    return lines


def figure(value: object) -> str:
    """A number or a list of them as people read it."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return " to ".join(figure(item) for item in value) or "none"
    return "not defined" if value is None else str(value)
