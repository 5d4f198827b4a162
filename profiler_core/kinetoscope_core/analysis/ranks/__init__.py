"""What ranks of one job wait for: the same collective in the recordings of all of them.

`facts.py` takes from a rank's recordings what is needed of them (`rank.py` calls it), so that they need not be held
together; `matching.py` finds the same collective on other ranks, `waiting.py` says what each waited, `job.py` what each
took, `lateness.py` whom they wait for, by what they do in each step (`steps.py`).
"""
