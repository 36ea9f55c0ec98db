"""The reference pages of docs/reference, from the code itself.

    PYTHONPATH=. python bench/reference.py           # writes the pages (make reference)
    PYTHONPATH=. python bench/reference.py --check   # exit code 1 and the pages that differ

Command line from Typer, HTTP from the OpenAPI document, Python from docstrings, reasons from the table
of causes, settings and policy from their records, trace formats from the tests' fixtures. The same code
gives the same bytes.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
MADE = "<!-- Written by bench/reference.py (make reference). -->"


def command_line() -> str:
    """Every command with its arguments and options."""
    from typer.main import get_command

    from cli import app
    from cli.front_door import PANELS

    door: Any = get_command(app)
    lines = ["# Command line", "", *_options(door)]
    for panel in PANELS:
        lines += ["", f"## {panel}"]
        for name, command in door.commands.items():
            if command.rich_help_panel == panel:
                lines += list(_command(f"provenanceguard {name}", command))
    return "\n".join(lines)


def _command(name: str, command: Any) -> Iterator[str]:
    if hasattr(command, "commands"):
        for below, one in command.commands.items():
            yield from _command(f"{name} {below}", one)
        return
    yield from ("", f"### {name}", "", inspect.cleandoc(command.help or ""), "")
    yield from _options(command)
    if command.epilog:
        yield from ("", f"`{command.epilog.removeprefix('Example: ')}`")


def _options(command: Any) -> Iterator[str]:
    rows = []
    for one in command.params:
        if one.name == "help":
            continue
        names = ", ".join(f"`{name}`" for name in (*one.opts, *one.secondary_opts))
        given = one.default if not callable(one.default) else None
        default = "" if one.required or given in (None, False, (), []) else f"`{given}`"
        rows.append(
            f"| {names} | {'needed' if one.required else default} | {_cell(one.help or '')} |"
        )
    if rows:
        yield from ("| option or argument | default | what it does |", "|---|---|---|", *rows)


def http() -> str:
    """Every endpoint of ``serve http`` with its fields, from the OpenAPI document."""
    from service.http_app import http_app
    from service.metrics import Metrics

    document = http_app(_NoVerbs(), Metrics()).openapi()  # type: ignore[arg-type]
    lines = [
        "# HTTP",
        "",
        "`provenanceguard serve http` publishes this as `/openapi.json` too.",
        "",
    ]
    lines += ["| endpoint | what it gives | answers |", "|---|---|---|"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            told = operation.get("summary", "")
            codes = ", ".join(f"{code}" for code in operation["responses"])
            lines.append(f"| `{method.upper()} {path}` | {_cell(told)} | {codes} |")
    for name, schema in document["components"]["schemas"].items():
        lines += ["", f"## {name}", "", _cell(schema.get("description", "")), ""]
        lines += ["| field | type | |", "|---|---|---|"]
        needed = schema.get("required", [])
        for field, about in schema.get("properties", {}).items():
            mark = "needed. " if field in needed else ""
            lines.append(
                f"| `{field}` | {_type(about)} | {mark}{_cell(about.get('description', ''))} |"
            )
    return "\n".join(lines)


class _NoVerbs:
    """Nothing is asked of them: the document is read from the routes."""

    limits = verify_answer = audit_citations = explain_claim = None


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if choices := schema.get("anyOf"):
        return " or ".join(_type(one) for one in choices)
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def python() -> str:
    """Everything public of the package ``provenanceguard``."""
    import provenanceguard as pg
    from provenanceguard import evaluators
    from provenanceguard.testing import assert_grounded

    lines = ["# Python", "", "```python", "import provenanceguard as pg", "```", ""]
    lines += [inspect.cleandoc(pg.__doc__ or "").rpartition("\n\n")[2]]
    public = [*((name, getattr(pg, name)) for name in pg.__all__)]
    public.append(("testing.assert_grounded", assert_grounded))
    kits = (evaluators.langsmith, evaluators.langfuse, evaluators.phoenix, evaluators.inspect_ai)
    public += [(f"evaluators.{one.__name__}", one) for one in kits]
    for name, thing in public:
        called = callable(thing) and not (
            inspect.isclass(thing)
            and (issubclass(thing, Exception) or hasattr(thing, "__members__"))
        )
        lines += ["", f"## {name}", ""]
        if called and not dataclasses.is_dataclass(thing):
            lines += ["```python", f"{name}{_signature(thing)}", "```", ""]
        lines += [_docstring(thing)]
        if dataclasses.is_dataclass(thing):
            lines += ["", *(f"- `{one.name}`: `{one.type}`" for one in dataclasses.fields(thing))]
        if hasattr(thing, "__members__"):
            lines += ["", ", ".join(f"`{one.value}`" for one in thing)]
        for part, member in vars(thing).items() if inspect.isclass(thing) else ():
            function = member.fget if isinstance(member, property) else member
            if not part.startswith("_") and inspect.isfunction(function):
                lines += ["", f"**`{part}`** {_docstring(function)}"]
    return "\n".join(lines)


def _signature(thing: Any) -> str:
    """The signature without the quotes that postponed annotations have."""
    return str(inspect.signature(thing)).replace("'", "")


def _docstring(thing: Any) -> str:
    """A docstring with its examples fenced."""
    text = inspect.cleandoc(thing.__doc__ or "")
    before, mark, examples = text.partition("\n>>>")
    return before if not mark else f"{before}\n```pycon\n>>>{examples}\n```"


def reasons() -> str:
    """Every reason that a verdict can give."""
    from core.causes import SENTENCES

    lines = [
        "# Reasons",
        "",
        "What stands in braces is filled in from the claim and its sources.",
        "",
    ]
    lines += ["| reason | text |", "|---|---|"]
    lines += [f"| {cause.value} | {_cell(text)} |" for cause, text in SENTENCES.items()]
    return "\n".join(lines)


ENVIRONMENT = {
    "PROVENANCEGUARD_DB": "The database: a SQLite file, or a `postgresql+psycopg://` URL.",
    "PROVENANCEGUARD_CONFIG": "A site's own operating constants, a TOML file: `supported_prior = 0.8`.",
    "PROVENANCEGUARD_FAMILIES": "A site's own kinds of sources, a TOML file.",
    "PROVENANCEGUARD_KEYS": "The folder of signing keys, seals and anchors.",
    "PROVENANCEGUARD_FIRST_LEAD": "With logins: the address that leads from the first start on.",
    "PROVENANCEGUARD_EDITOR_KEY": "The key of the optional editor that words repairs.",
    "PROVENANCEGUARD_JUDGE_KEY": "The key of the optional judge.",
    "PROVENANCEGUARD_JUDGE_SECONDS": "How long one reply of a judge may take (180).",
    "PROVENANCEGUARD_JUDGE_KEY_FILE": "A file that holds the key of the judge instead.",
    "PROVENANCEGUARD_JUDGE_HOSTS": "The hosts that a judge on another machine may be at.",
    "STREAMLIT_SERVER_PORT": "The port of the workbench.",
}


def configuration() -> str:
    """Environment variables, and every operating constant with the reason beside it in the code."""
    from core import config

    lines = [
        "# Configuration",
        "",
        "## Environment",
        "",
        "| variable | what it sets |",
        "|---|---|",
    ]
    lines += [f"| `{name}` | {text} |" for name, text in ENVIRONMENT.items()]
    lines += ["", "## Operating constants", ""]
    lines += ["Fields of `core.config.Config`; each verdict names a digest of all of them.", ""]
    lines += ["| key | value | where it comes from |", "|---|---|---|"]
    comments = _comments(inspect.getsource(config.Config))
    for field in dataclasses.fields(config.Config):
        shown = field.default
        if dataclasses.is_dataclass(shown):
            shown = ", ".join(f"{key} {value}" for key, value in dataclasses.asdict(shown).items())  # type: ignore[arg-type]
        lines.append(f"| `{field.name}` | `{shown}` | {_cell(comments.get(field.name, ''))} |")
    return "\n".join(lines)


def policy() -> str:
    """What a gate's policy file may say."""
    from core.workflows import gate

    text = inspect.cleandoc(gate.__doc__ or "")
    intro, _, rest = text.partition("\n\n")
    lines = ["# Policy of a gate", "", rest.partition(":\n\n")[0] + ":", ""]
    after = rest.partition(":\n\n")[2].splitlines()
    example = list(itertools.takewhile(lambda line: not line or line.startswith("    "), after))
    lines += ["```toml", textwrap.dedent("\n".join(example)).strip(), "```", ""]
    lines += ["| key | counts | else |", "|---|---|---|"]
    for field in dataclasses.fields(gate.Most):
        what = "answers" if field.name == "blocked" else "claims"
        default = "0" if field.default == 0 else "as many as the answers' gate lets pass"
        lines.append(f"| `most.{field.name}` | {what} | {default} |")
    return "\n".join(lines)


def _comments(source: str) -> dict[str, str]:
    """The comment above or behind each field of a class."""
    lines = source.splitlines()
    fields = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.AnnAssign)]
    found = {}
    for one in fields:
        first, last = one.lineno - 1, (one.end_lineno or one.lineno) - 1
        above: list[str] = []
        while first and lines[first - 1].strip().startswith("#"):
            first -= 1
            above.insert(0, lines[first].strip(" #"))
        behind = [
            line.partition("  # ")[2] for line in lines[one.lineno - 1 : last + 2] if "  # " in line
        ]
        behind = [text for text in behind if text][: last + 2 - one.lineno or 1]
        found[ast.unparse(one.target)] = " ".join(above or behind[:1])
    return found


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


_TRACE_FORMATS = """# Trace formats

What is read of each format, as the tests' fixtures and cases show it; a dash means that none of them
holds it. *Turns* are texts that were shown before the answer, *ids* the trace's own and its calls'.
Messages of every dialect are read alone and inside the formats that hold messages. Files of the second
table with a package were written by it."""
# The dialects of messages, and the file that a vendor's own package wrote.
_DIALECTS = {
    "Gemini": "google-genai",
    "Google ADK": "google-adk",
    "Pydantic AI": "pydantic-ai-slim",
    "LangChain": "langchain-core",
    "Bedrock Converse": "mypy-boto3-bedrock-runtime",
    "AI SDK": "ai",
    "Claude Code session": "",
}


def trace_formats() -> str:
    """What is read of each format and of each dialect of messages, from the fixtures of the tests."""
    from core.capture.files import FileRecord
    from core.capture.reading import FORMATS, read_records_of, read_traces
    from core.records import SourceStatus, Trace

    columns: Mapping[str, Callable[[Trace], object]] = {
        "question": lambda t: t.question,
        "answer": lambda t: t.answer is not None,
        "turns": lambda t: t.earlier,
        "calls": lambda t: any(s.arguments for s in t.sources),
        "outputs": lambda t: any(s.is_evidence for s in t.sources),
        "errors": lambda t: any(s.status is SourceStatus.ERROR for s in t.sources),
        "citations": lambda t: t.citations,
        "ids": lambda t: not t.trace_id.startswith("sha256:") and any(s.call_id for s in t.sources),
    }
    root = FOLDER.parents[1]
    folder = root / "tests" / "core" / "capture" / "formats"
    told: list[tuple[str | None, list[object]]] = []
    for file in [
        *sorted((folder / "fixtures").rglob("*.json*")),
        root / "sample_data/traces.jsonl",
    ]:
        told.append((None, list(read_traces([file]))))
    for dialect, package in _DIALECTS.items():
        if package:
            told.append((dialect, list(read_traces([folder / "vendors" / f"{package}.jsonl"]))))
    for line in (folder / "cases.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        records = [FileRecord(one, at) for at, one in enumerate(case.get("records", ()), 1)]
        if records:
            told.append((case.get("dialect"), list(read_records_of(records))))
    found: dict[str, set[str]] = {name: set() for name in (*sorted(FORMATS), *_DIALECTS)}
    for dialect, items in told:
        for trace in items:
            if isinstance(trace, Trace):
                held = {name for name, holds in columns.items() if holds(trace)}
                found[dialect or (trace.origin.format if trace.origin else "")] |= held
    lines = [_TRACE_FORMATS]
    for names, head in ((sorted(FORMATS), "format"), (list(_DIALECTS), "dialect | package")):
        lines += ["", f"| {head} | {' | '.join(columns)} |"]
        lines.append("|---" * (len(columns) + head.count("|") + 1) + "|")
        for name in names:
            marks = ["yes" if column in found[name] else "—" for column in columns]
            own = [_DIALECTS[name] and f"`{_DIALECTS[name]}`"] if name in _DIALECTS else []
            lines.append(f"| {' | '.join([name, *own, *marks])} |")
    return "\n".join(lines)


PAGES: Mapping[str, Callable[[], str]] = {
    "command-line": command_line,
    "http": http,
    "python": python,
    "reasons": reasons,
    "configuration": configuration,
    "policy": policy,
    "trace-formats": trace_formats,
}


def pages() -> dict[Path, str]:
    """Each page's text by its file."""
    return {FOLDER / f"{name}.md": f"{make()}\n\n{MADE}\n" for name, make in PAGES.items()}


def main() -> int:
    """Write or compare; the exit code."""
    stale = [
        path
        for path, text in pages().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.name} differs: run make reference")
        return bool(stale)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
