"""SIGTERM as a script and what it starts know it."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time


def main():
    print(signal.getsignal(signal.SIGTERM))
    forked = multiprocessing.get_context("fork").Process(target=time.sleep, args=(1000,))
    forked.start()
    forked.terminate()
    forked.join()
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    started.terminate()
    print(forked.exitcode, started.wait(), flush=True)
    print(signal.signal(signal.SIGTERM, lambda *_: print("my handler")))
    os.kill(os.getpid(), signal.SIGTERM)
    sys.stdout.flush()
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGTERM)
        sys.stdout.flush()
        os._exit(0)
    os.wait()
    with open(__file__) as file:
        print(file.fileno())


main()
