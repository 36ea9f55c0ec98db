"""A blocked answer, revised edit by edit."""
