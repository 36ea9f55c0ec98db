"""How far reviewers agree."""
