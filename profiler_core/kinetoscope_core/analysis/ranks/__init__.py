"""What ranks of one job wait for: the same collective in the recordings of all of them.

`facts.py` takes from a rank's recordings what is needed of them, so that they need not be held together; `matching.py`
finds the same collective on other ranks, `waiting.py` says what each waited, `ranks.py` what each rank took.
"""
