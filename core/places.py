"""Where the program stands on disk."""

from __future__ import annotations

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
SAMPLE = PROJECT / "sample_data" / "by_hand" / "traces.jsonl"
SAMPLE_PACKET = PROJECT / "sample_data" / "packet.jsonl"
