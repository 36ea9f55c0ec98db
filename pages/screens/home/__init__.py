"""What waits for whom, and the first steps."""
