"""One trace opened, its claims ranked against sources, read, checked and judged (III.3 - III.6)."""
