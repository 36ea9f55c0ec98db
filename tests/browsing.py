"""What a browser test sees: a page, and everything that it asked the network for."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.sync_api import BrowserContext, Locator, Page, TimeoutError, expect

SCREENSHOTS = Path(__file__).resolve().parents[1] / "screenshots"
# Long enough for a machine that is busy with other work; a healthy one answers in a tenth of it.
PATIENCE_MILLISECONDS = 45_000
WORKED_BY_KEYS = "#review "
SETTLED = "[data-testid='stApp'][data-test-script-state='notRunning']"


@dataclass
class Visit:
    """A page on the workbench, with every request that it made."""

    page: Page
    url: str
    requests: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        """What went wrong in the browser so far, and the errors that the page shows."""
        shown = [] if self.page.is_closed() else self.page.get_by_test_id("stException").all()
        return [*self.heard, *(each.inner_text() for each in shown)]

    def open(self, path: str, wait_for: str) -> Page:
        """Go to a page and wait for what must be on it."""
        self.page.goto(f"{self.url}/{path}")
        self.page.locator(wait_for).first.wait_for()
        self.page.wait_for_selector(SETTLED)
        if wait_for.startswith(WORKED_BY_KEYS):
            # A key pressed before the page's last button is drawn acts on nothing.
            self.page.locator(".st-key-row-next button").last.wait_for()
            self.page.wait_for_selector(SETTLED)
        return self.page

    def outside(self) -> list[str]:
        """Requests that went anywhere but to this machine."""
        here = (self.url, self.url.replace("http", "ws"), "data:", "blob:")
        return [url for url in self.requests if not url.startswith(here)]


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Let the page work until that holds of what is stored, which nothing on the page shows."""
    deadline = time.monotonic() + PATIENCE_MILLISECONDS / 1000
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        page.wait_for_timeout(20)  # the page's own events are handled meanwhile


def press(
    button: Locator, shows: Locator, state: Literal["attached", "visible"] = "visible"
) -> None:
    """Press a button, as a person would a second time where nothing came of it.

    A click that falls between two drawings of a page on a busy machine acts on nothing.
    """
    button.click()
    try:
        shows.wait_for(state=state, timeout=PATIENCE_MILLISECONDS / 3)
    except TimeoutError:
        if button.is_visible():
            button.click()
        shows.wait_for(state=state)


def chosen_answers(page: Page) -> Locator:
    """The answers that are chosen on Review or Adjudicate."""
    return page.locator(".st-key-bar button").get_by_text("●")


def read_by_keys(page: Page, claims: int, keys_for: Callable[[str], Sequence[str]]) -> None:
    """Answer that many claims on Review, each by the keys for its text, in the order of the queue."""
    for left in range(claims, 0, -1):
        item = page.locator("#review").get_attribute("data-item") or ""
        keys = keys_for(page.locator("#review .the-claim .claim-text").inner_text())
        for count, key in enumerate(keys[:-1], 1):
            page.keyboard.press(key)
            expect(chosen_answers(page)).to_have_count(count)
            page.wait_for_selector(SETTLED)
        page.keyboard.press(keys[-1])
        page.locator("#review .machine").wait_for()
        # Until then the button of the last draw may stand beside it.
        page.wait_for_selector(SETTLED)
        page.locator(".st-key-keep button:not([disabled])").first.wait_for()
        page.keyboard.press("k")
        if left > 1:
            expect(page.locator("#review")).not_to_have_attribute("data-item", item)
            page.locator("#review .the-claim").wait_for()
        else:
            expect(page.get_by_text("Nothing waits for you")).to_be_visible()
        page.wait_for_selector(SETTLED)


def watched(context: BrowserContext, app_url: str) -> Visit:
    """A page whose requests, dialogs and faults are kept."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MILLISECONDS)
    visit = Visit(page=page, url=app_url)
    page.on("request", lambda request: visit.requests.append(request.url))
    page.on("pageerror", lambda error: visit.heard.append(str(error)))
    page.on("dialog", lambda dialog: (visit.heard.append(dialog.message), dialog.dismiss()))
    return visit


@contextmanager
def proxied(app_url: str, header: str) -> Iterator[str]:
    """The address of a proxy that adds a header line to every request, the websocket's too.

    Like the proxy in front of a real workbench; a browser sends its extra headers with pages alone.
    """
    host, port = app_url.removeprefix("http://").split(":")
    listening = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def pass_on(client: socket.socket) -> None:
        head = b""
        with suppress(OSError):
            while b"\r\n\r\n" not in head and (data := client.recv(65536)):
                head += data
        if not head:
            client.close()
            return
        line, rest = head.split(b"\r\n", 1)
        # One request a connection, so that each one passes through here and gets its header.
        if b"upgrade: websocket" not in rest.lower():
            rest = re.sub(rb"(?im)^connection:[^\r]*\r\n", b"", rest)
            line += b"\r\nConnection: close"
        with socket.create_connection((host, int(port))) as server:
            server.sendall(line + b"\r\n" + header.encode() + b"\r\n" + rest)
            up = threading.Thread(target=pump, args=(client, server), daemon=True)
            up.start()
            pump(server, client)
            client.close()

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                threading.Thread(target=pass_on, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()
