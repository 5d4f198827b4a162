"""Open files, and texts for people."""
