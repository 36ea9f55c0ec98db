"""Claims on which two reviewers differ, and the third decision."""
