"""Which calls of a source save something when the script is ended early."""

import pytest

from kinetoscope_core.source.save_points import saves_when_ended


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("try:\n    f()\nfinally:\n    torch.save(1, path)\n", [(4, "torch.save")]),
        (
            "try:\n    f()\nexcept KeyboardInterrupt:\n    trainer.save_checkpoint(p)\n",
            [(4, "trainer.save_checkpoint")],
        ),
        ("try:\n    f()\nexcept (ValueError, SystemExit):\n    dump(x)\n", [(4, "dump")]),
        ("try:\n    f()\nexcept:\n    save()\n", [(4, "save")]),
        ("try:\n    torch.save(1, path)\nfinally:\n    file.close()\n", []),
        ("try:\n    f()\nexcept ValueError:\n    torch.save(1, path)\n", []),
        ("def (", []),
        ("\0", []),
    ],
)
def test_what_is_saved_in_finally_and_where_an_interrupt_is_expected(source, found):
    assert saves_when_ended(source.encode()) == found
