"""Tasks whose regions overlap on one thread."""

import asyncio

import torch
from torch.profiler import record_function


async def task(name, turns):
    for _ in range(4):
        with record_function(name):
            for _ in range(turns):
                torch.ones(8) + 1
                await asyncio.sleep(0)


async def main():
    await asyncio.gather(task("short", 1), task("long", 3))


asyncio.run(main())
print("all tasks are done")
