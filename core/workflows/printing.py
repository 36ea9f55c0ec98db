"""print_page: a page as PDF, by the browser of this machine, with nothing fetched."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from core.errors import ComponentUnavailable

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
PATIENCE_SECONDS = 120


def find_browser() -> str | None:
    """The path of a browser that can print, None where there is none."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def print_page(page: Path, pdf: Path) -> None:
    """Print one HTML file of ours to ``pdf``; raises ComponentUnavailable."""
    browser = find_browser()
    if browser is None:
        raise ComponentUnavailable(
            "no browser that can print was found (chromium): export without PDF, open the HTML "
            "reports and print them"
        )
    # A browser that runs as root has to go without its sandbox; the page runs no script anyway.
    unboxed = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="provenanceguard-print-") as profile:
        command = [
            browser, "--headless", "--disable-gpu", "--no-pdf-header-footer", *unboxed,
            "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={profile}", f"--print-to-pdf={pdf}", page.resolve().as_uri(),
        ]  # fmt: skip
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            raise ComponentUnavailable(
                f"{browser} could not print ({type(error).__name__}): export without PDF"
            ) from None
    if not pdf.is_file():
        raise ComponentUnavailable(f"{browser} printed nothing: export without PDF")
