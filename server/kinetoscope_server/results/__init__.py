"""What was measured, by file and by id, for those who show it."""
