import sys

from .inner import work

print(__name__, __package__, sys.argv[1:])
for _ in range(9):
    work.work()
