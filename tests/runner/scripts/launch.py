"""A launcher without torch: `launch.py PORT N SCRIPT ARGUMENTS…` starts N ranks and waits for all of them."""

import os
import subprocess
import sys

port, world, *command = sys.argv[1:]
ranks = [
    subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, "RANK": str(rank), "WORLD_SIZE": world, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port},
    )
    for rank in range(int(world))
]
codes = [rank.wait() for rank in ranks]
print("codes", *codes, flush=True)
sys.exit(max(map(abs, codes)))
