"""Findings of the ranks of a job, which are looked at together: `rules.py` and what becomes of their claims."""
