"""The output of a script as text, passed on as it comes, in whole lines: a traceback is written in pieces."""

import codecs
import os
import threading
from collections.abc import Callable

_MOST_REMEMBERED = 1 << 20
_LONGEST_LINE = 65_536


class Output:
    """A pipe for one output of the script. `write_end` is for its process, `on_text` gets the text.

    `shown` is what was passed on already by a run that was given up and is now made again: it is not shown twice.
    """

    def __init__(self, on_text: Callable[[str], None], shown: str = "") -> None:
        self.passed_on = ""
        self._on_text = on_text
        self._awaited = shown
        read_end, self.write_end = os.pipe()
        self._thread = threading.Thread(target=self._read, args=(read_end,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Waits for what was written, though not for processes that the script left behind with this output."""
        os.close(self.write_end)
        self._thread.join(1.0)

    def again(self) -> "Output":
        """For the run in place of this one; this one has ended."""
        self.close()
        return Output(self._on_text, self.passed_on)

    def _read(self, read_end: int) -> None:
        # A character may be cut in two by the pipe.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        begun = ""
        with open(read_end, "rb", buffering=0) as pipe:
            while data := pipe.read(65_536):
                lines, newline, begun = (begun + decoder.decode(data)).rpartition("\n")
                self._pass_on(lines + newline)
                if len(begun) > _LONGEST_LINE:
                    self._pass_on(begun)
                    begun = ""
        self._pass_on(begun)

    def _pass_on(self, text: str) -> None:
        unseen = self._unseen(text)
        if unseen:
            self._on_text(unseen)

    def _unseen(self, text: str) -> str:
        if len(self.passed_on) < _MOST_REMEMBERED:
            self.passed_on += text
        common = os.path.commonprefix([self._awaited, text])  # noqa: RUF071 - character by character is what is wanted
        if len(common) < min(len(self._awaited), len(text)):
            self._awaited = ""  # from here on it writes other things: whole lines of them
            return text[common.rfind("\n") + 1 :]
        self._awaited = self._awaited[len(common) :]
        return text[len(common) :]
