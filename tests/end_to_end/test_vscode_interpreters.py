"""Which Python is started, and when none is: the extension in a real VS Code, as in test_vscode.py."""

import pytest

# With what other workers play before it.
pytestmark = pytest.mark.timeout(1200)


def test_nothing_of_an_untrusted_workspace_is_started(play):
    play("trust")


def test_interpreters_that_do_not_fit_are_told_and_others_taken_without_a_reload(play):
    play("interpreters")
