"""``python -m cli``: the front door without the installed command."""

from cli import app

if __name__ == "__main__":
    app(prog_name="provenanceguard")
