"""The group of commands: our own errors become one line and an exit code."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any, NoReturn

from typer.core import TyperGroup

from cli.output import BAD_INPUT, UNAVAILABLE, say
from core.errors import (
    ComponentUnavailable,
    ConfigError,
    InputError,
    ProvenanceGuardError,
    StoreError,
)

EVERYDAY, REVIEW, EVALUATE, AUDIT, SERVE = "Everyday", "Review", "Evaluate", "Audit", "Serve"
# Names of 0.19.0, which work for one release more.
OLD_COMMANDS = {"reader": "nli-model"}
OLD_OPTIONS = {"--reader": "--nli-model"}
PANELS = (EVERYDAY, REVIEW, EVALUATE, AUDIT, SERVE)  # of `--help`, in this order


class Terminated(KeyboardInterrupt):
    """The process was asked to end (SIGTERM)."""


class FrontDoor(TyperGroup):
    """Turns our own errors into one line and an exit code; a plain bug stays a traceback."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands under their panels, in plain text, in the order in which they were added."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            panel = getattr(command, "rich_help_panel", None) or EVERYDAY
            line = command.get_short_help_str(formatter.width - 24)
            panels.setdefault(panel, []).append((name, line))
        for panel in sorted(panels, key=PANELS.index):
            with formatter.section(panel):
                formatter.write_dl(panels[panel], col_max=18)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The rest of the command line, old names in it replaced with a notice."""
        own = args.index("--") if "--" in args else len(args)
        words = [_by_new_name(word, OLD_OPTIONS) for word in args[:own]]
        known = self.commands.keys() | OLD_COMMANDS.keys()
        first = next((n for n, word in enumerate(words) if word in known), own)
        words[first : first + 1] = [
            _by_new_name(each, OLD_COMMANDS) for each in words[first : first + 1]
        ]
        return super().parse_args(ctx, words + args[own:])

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        signal.signal(signal.SIGTERM, _terminated)
        try:
            return super().invoke(ctx)
        except (InputError, ConfigError) as error:
            _fail(error, BAD_INPUT)
        except (ComponentUnavailable, StoreError) as error:
            _fail(error, UNAVAILABLE)
        except ProvenanceGuardError as error:
            _fail(error, BAD_INPUT)
        except BrokenPipeError:
            raise  # whoever read the output has stopped reading
        except OSError as error:
            # A full disk or a folder that is gone is no verdict: never exit code 1.
            place = f"{error.filename}: " if error.filename is not None else ""
            say(f"error: {place}{error.strerror or type(error).__name__}")
            raise SystemExit(UNAVAILABLE) from None
        except MemoryError:
            say("error: out of memory")
            raise SystemExit(UNAVAILABLE) from None
        except KeyboardInterrupt as stopped:
            kept = "What was finished is kept: run the same command again to go on."
            served = ctx.invoked_subcommand == "serve"
            say("Stopped: nothing is served any more." if served else f"Stopped. {kept}")
            number = signal.SIGTERM if isinstance(stopped, Terminated) else signal.SIGINT
            raise SystemExit(128 + number) from None


def _by_new_name(word: str, names: dict[str, str]) -> str:
    name, equals, value = word.partition("=")
    if name not in names:
        return word
    say(f"{name} is now called {names[name]}; the old name works until the next release.")
    return names[name] + equals + value


def _terminated(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated


def _fail(error: ProvenanceGuardError, code: int) -> NoReturn:
    say(f"error: {error}")
    raise SystemExit(code)
