"""print_page: a page as PDF, by the browser of this machine, with nothing fetched."""

from __future__ import annotations

import os
import re
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


# Two printings of one page by one browser differ in the day, and in where the browser began to
# count the nodes that table heads are named by.
_DATES = re.compile(rb"(/(?:CreationDate|ModDate) \(D:)\d{14}([+-]\d\d'\d\d'\))")
_NODES = re.compile(rb"\(node([0-9A-Fa-f]{8})\)")


def print_page(page: Path, pdf: Path) -> None:
    """Print one HTML file of ours to ``pdf``, without the day; raises ComponentUnavailable.

    The same page printed by the same browser gives the same bytes.
    """
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
    pdf.write_bytes(settled(pdf.read_bytes()))


def settled(pdf: bytes) -> bytes:
    """The PDF of a printing without what differs from one printing to the next, of equal length:
    places in a PDF are counted in bytes."""
    nodes = sorted(set(_NODES.findall(pdf)))
    number = {found: b"(node%08d)" % rank for rank, found in enumerate(nodes, start=1)}
    dated = _DATES.sub(rb"\g<1>19700101000000\g<2>", pdf)
    return _NODES.sub(lambda found: number[found[1]], dated)


def printed(html: str) -> bytes:
    """A page of ours as PDF; raises ComponentUnavailable."""
    with tempfile.TemporaryDirectory(prefix="provenanceguard-page-") as folder:
        page, pdf = Path(folder) / "page.html", Path(folder) / "page.pdf"
        page.write_text(html, encoding="utf-8")
        print_page(page, pdf)
        return pdf.read_bytes()
