"""On which buffer nodes the stripes of a checkpoint are: how many on each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pegasus_bb_lab.model.machine import LEAST_LOADED, RANDOM

Counts = NDArray[np.int64]


class Stripes:
    """One of the placements of ``model.machine``, and its random numbers."""

    def __init__(self, placement: str, rng: np.random.Generator) -> None:
        self._placement, self._rng = placement, rng
        self._next = 0  # round robin: the node of the next stripe

    def place(self, stripes: int, up: NDArray[np.bool_], load: Counts) -> Counts:
        """``load`` are the stripes that each node works on now; those that are ``up``
        can take more, and at least one is."""
        nodes = np.flatnonzero(up)
        found = np.zeros(len(up), np.int64)
        if self._placement == RANDOM:
            share = np.full(len(nodes), 1 / len(nodes))
            found[nodes] = self._rng.multinomial(stripes, share)
        elif self._placement == LEAST_LOADED:
            found[nodes] = self._of_two(stripes, load[nodes])
        else:
            found[nodes] = self._in_turn(stripes, len(nodes))
        return found

    def _of_two(self, stripes: int, load: Counts) -> Counts:
        """Each stripe draws two nodes and takes the one with less to do (Mitzenmacher
        2001, "The power of two choices")."""
        work = load.tolist()
        draws = self._rng.integers(0, len(work), (2, stripes))
        for one, other in zip(*draws.tolist(), strict=True):
            if work[other] < work[one]:
                work[other] += 1
            else:
                work[one] += 1
        return np.asarray(work, np.int64) - load

    def _in_turn(self, stripes: int, nodes: int) -> Counts:
        each, more = divmod(stripes, nodes)
        found = np.full(nodes, each, np.int64)
        found[(self._next + np.arange(more)) % nodes] += 1
        self._next = (self._next + more) % nodes
        return found
