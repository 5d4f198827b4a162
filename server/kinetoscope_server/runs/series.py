"""Several runs of the same, one after another: processes are what a comparison counts, not calls."""

from dataclasses import replace
from typing import Final

from kinetoscope_core.text import count_text
from kinetoscope_server.runs.finish import Finish
from kinetoscope_server.runs.profile import profile
from kinetoscope_server.runs.progress import SeriesProgress
from kinetoscope_server.runs.targets import Target
from kinetoscope_server.server import KinetoscopeServer

MOST_TIMES: Final = 50


async def profile_times(
    server: KinetoscopeServer, target: Target, times: int, *, token: int | str | None = None, is_plain: bool = True
) -> Finish:
    """Profiles that often, each time in a new interpreter, or with `is_plain` false in a prepared one. Every run is
    stored and shown. One that is cancelled or fails is the last.
    """
    series = SeriesProgress(server.client, token, times)
    server.runs.series.append(series)
    measured = 0
    finish = Finish("none", "")
    try:
        while measured < times and not series.is_cancelled:
            finish = await profile(server, target, is_plain=is_plain, series=series)
            if finish.how != "measured":
                break
            measured += 1
            target = replace(target, arguments=None, command=None, choose=None)
    finally:
        server.runs.series.remove(series)
        series.close()
    if not measured:
        return finish
    how = "cancelled" if series.is_cancelled else finish.how
    stored = "All" if measured == times else f"{measured} of"
    return replace(finish, how=how, message=f"{stored} {count_text(times, 'run')} are stored. {finish.message}")


async def measure_more(
    server: KinetoscopeServer, target: Target, times: int, *, token: int | str | None = None
) -> Finish:
    """Makes that many more runs like the one that the file shows: of the region alone if it was, and prepared if it
    was, so that they count as its processes.
    """
    shown = server.board.shown(target.path)
    run = None if shown is None else shown.result.run
    if shown is None or run is None:
        return Finish("refused", f"{target.name} shows no run that could be repeated. Profile it first.")
    like_it = target if shown.is_focused else replace(target, region=None)
    return await profile_times(server, like_it, times, token=token, is_plain=not run.is_prepared)
