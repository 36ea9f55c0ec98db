"""Pictures of the running workbench for README and tutorials: ``make screenshots``, light and dark.

``python bench/screenshots.py DATABASE`` serves that database (of a first start: the sample answers,
verified), opens each page as a reader would and writes docs/images. Needs chromium.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

IMAGES = Path("docs/images")
SHOWN = {  # picture: page, and what must stand there before it is taken
    "verdict": ("verdict?trace=sample-04", "The answer credits"),
    "review": ("review", "Is it supported?"),
    "thresholds": ("thresholds", "good claims"),
}
THEMES = ("light", "dark")
SIZE = {"width": 1280, "height": 800}
PATIENCE_SECONDS = 120
STILL_MILLISECONDS = 6000
COLOURS = 256  # with fewer, amber becomes red; a picture is a third of its size


def main() -> int:
    """Serve, take, end; the exit code."""
    database = Path(sys.argv[1]) if len(sys.argv) == 2 else None
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if database is None or not database.is_file():
        print("usage: python bench/screenshots.py DATABASE", file=sys.stderr)
        return 2
    if chromium is None:
        print("no chromium on this machine: apt-get install chromium", file=sys.stderr)
        return 3
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    served = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"],
        env={**os.environ, "PROVENANCEGUARD_DB": str(database)},
        stdout=subprocess.DEVNULL,
    )
    try:
        _wait(f"http://127.0.0.1:{port}/_stcore/health")
        IMAGES.mkdir(parents=True, exist_ok=True)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for theme in THEMES:
                page = browser.new_page(viewport=SIZE, color_scheme=theme)  # type: ignore[arg-type]
                for name, (path, words) in SHOWN.items():
                    page.goto(f"http://127.0.0.1:{port}/{path}")
                    _take(page, words, IMAGES / f"{name}-{theme}.png")
    finally:
        served.terminate()
        served.wait()
    return 0


def _take(page: Page, words: str, file: Path) -> None:
    page.get_by_text(words).first.wait_for(timeout=PATIENCE_SECONDS * 1000)
    before, now = b"", page.screenshot(animations="disabled")
    while before != now:  # a page is drawn in several goes, and says of none that it is the last
        page.wait_for_timeout(STILL_MILLISECONDS)
        before, now = now, page.screenshot(animations="disabled")
    file.write_bytes(now)
    with Image.open(file) as picture:
        fewer = picture.convert("RGB").quantize(COLOURS)
    fewer.save(file, optimize=True)
    print(f"{file}: {file.stat().st_size // 1024} KiB")


def _wait(health: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(health, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError("the workbench did not answer")


if __name__ == "__main__":
    sys.exit(main())
