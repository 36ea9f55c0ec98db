"""The trail of who did what."""
