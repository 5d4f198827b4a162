"""Tests of pytest and unittest with regions."""

import asyncio
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


def test_that_catches():
    for _ in range(100):
        try:
            run_often()
        except Exception as error:
            print(error)
    raise AssertionError("this must not be reached")


class Tests(unittest.TestCase):
    def test_as_a_method(self):
        run_often()


class AsyncTests(unittest.IsolatedAsyncioTestCase):
    async def test_as_a_coroutine(self):
        for _ in range(100):
            with record_function("tested"):
                await asyncio.sleep(0)
        raise AssertionError("this must not be reached")


if __name__ == "__main__":
    unittest.main()
