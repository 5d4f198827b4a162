"""The rules: one module each. registry.py, one folder up, has them all, and docs/findings a page for each."""
