"""What a browser test sees: a page, and everything that it asked the network for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import BrowserContext, Page

SCREENSHOTS = Path(__file__).resolve().parents[1] / "screenshots"
# Long enough for a machine that is busy with other work; a healthy one answers in a tenth of it.
PATIENCE_MILLISECONDS = 45_000
SETTLED = "[data-testid='stApp'][data-test-script-state='notRunning']"


@dataclass
class Visit:
    """A page on the workbench, with every request that it made."""

    page: Page
    url: str
    requests: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def open(self, path: str, wait_for: str) -> Page:
        """Go to a page and wait for what must be on it."""
        self.page.goto(f"{self.url}/{path}")
        self.page.locator(wait_for).first.wait_for()
        self.page.wait_for_selector(SETTLED)
        return self.page

    def outside(self) -> list[str]:
        """Requests that went anywhere but to this machine."""
        here = (self.url, self.url.replace("http", "ws"), "data:", "blob:")
        return [url for url in self.requests if not url.startswith(here)]


def watched(context: BrowserContext, app_url: str) -> Visit:
    """A page whose requests, dialogs and faults are kept."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MILLISECONDS)
    visit = Visit(page=page, url=app_url)
    page.on("request", lambda request: visit.requests.append(request.url))
    page.on("pageerror", lambda error: visit.faults.append(str(error)))
    page.on("dialog", lambda dialog: (visit.faults.append(dialog.message), dialog.dismiss()))
    return visit
