from .inner.work import work

print(__name__, __package__, __spec__.name)
for _ in range(9):
    work()
