"""Tests of pytest and unittest with regions."""

import unittest

import torch
from torch.profiler import record_function


def run_often():
    for _ in range(100):
        with record_function("tested"):
            torch.ones(8) + 1


def test_first():
    try:
        run_often()
    finally:
        with record_function("clean-up"):
            pass


def test_second():
    raise AssertionError("this must not be run")


class Tests(unittest.TestCase):
    def test_as_a_method(self):
        run_often()


if __name__ == "__main__":
    unittest.main()
