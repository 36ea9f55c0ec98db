"""What several screens share. No widget knows a screen."""
