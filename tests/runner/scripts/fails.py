"""Exceptions in all the forms in which Python shows them. Needs no torch."""

import sys


class Broken(Exception):
    def __str__(self):
        raise ValueError("no text")


def chain():
    try:
        int("x")
    except ValueError as error:
        raise RuntimeError("chained: é 训练") from error


how = sys.argv[1]
print("before")
if how == "chain":
    chain()
if how == "broken text":
    raise Broken
if how == "exit text":
    sys.exit("a text\nof two lines")
if how == "exit tuple":
    sys.exit((1, 2))
if how == "syntax":
    eval("1 +")
if how == "import":
    import no_such_module_anywhere
if how == "recursion":

    def forever():
        return forever()

    forever()
if how == "note" and sys.version_info >= (3, 11):
    error = ValueError("noted")
    error.add_note("a note")
    raise error
if how == "hook":
    sys.excepthook = lambda kind, error, traceback: sys.exit(f"the hook: {error} at line {traceback.tb_lineno}")
    raise ValueError("mine")
if how == "broken hook":
    sys.excepthook = lambda kind, error, traceback: 1 / 0
    raise ValueError("mine")
if how == "closed":
    sys.stderr.close()
    sys.stdout.close()
