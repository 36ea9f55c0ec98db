"""One claim from its sources to its verdict: prepared, its candidates chosen, read, measured, decided."""
