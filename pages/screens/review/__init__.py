"""What a reviewer reads, claim by claim."""
