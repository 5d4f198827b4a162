"""What users can set."""
