"""Stories that mostly wait, told at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from pegasus_bb.testbed.home import Home
from tests.testbed.site_hands import Site

Story = Callable[[Site, Home, str], None]  # the last one is the planner
Told = dict[str, Future[None]]


@contextmanager
def told_in_a_full_pool(
    home: Home, planner: str, stories: Iterable[Story]
) -> Iterator[Told]:
    """Each story by its name, under way. Somebody else has most of the pool."""
    submit_host, stories = Site(home), tuple(stories)
    submit_host.hold("other", "filler", 1000 << 20)
    try:
        with ThreadPoolExecutor(len(stories)) as pool:
            yield {
                story.__name__: pool.submit(story, submit_host, home, planner)
                for story in stories
            }
    finally:
        submit_host.run("root", "condor_rm", "-all")


def all_told(stories: Iterable[Callable[[], None]], seconds: float) -> None:
    """Side by side; the first that fails is what this fails with."""
    with ThreadPoolExecutor() as pool:
        for story in [pool.submit(story) for story in stories]:
            story.result(timeout=seconds)
