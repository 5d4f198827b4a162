"""From a lens to times beside the lines, with real runs."""

import pytest

pytestmark = pytest.mark.timeout(90)


@pytest.mark.parametrize("profile", ["vscode", "minimal"])
async def test_a_click_on_a_lens_brings_times_to_the_line(start, profile):
    client = await start(profile)
    uri = client.copy("two_regions.py")
    client.open(uri)
    assert await client.lenses(uri) == [
        (7, "▷ Profile"), (9, "▷ Profile"), (15, "▷ Profile"), (19, "▷ Profile file"),
    ]  # fmt: skip
    assert await client.hints(uri) == []

    await client.run_lens(uri, "▷ Profile file")
    message = await client.message()

    assert "Measured 2 regions in 1 file" in message.message
    texts = await client.hint_texts(uri)
    assert list(texts) == [7, 9]
    assert all(text.startswith("CPU ") for text in texts.values())
    assert "Details" in [title for row, title in await client.lenses(uri) if row == 7]
