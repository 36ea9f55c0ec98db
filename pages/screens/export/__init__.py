"""Packets made of adjudicated claims, as files."""
