"""Captured traces: adding them, and the list of them."""
