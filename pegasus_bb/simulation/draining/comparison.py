"""All policies on the same dumps and the same target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from pegasus_bb.model.draining import Application, Target
from pegasus_bb.simulation.draining.dumps import draw_clients
from pegasus_bb.simulation.draining.optimum import optimum
from pegasus_bb.simulation.draining.outcome import Outcome
from pegasus_bb.simulation.draining.proactive import Proactive
from pegasus_bb.simulation.draining.reactive import Reactive
from pegasus_bb.simulation.draining.taut_string import peak


@dataclass(frozen=True, slots=True)
class Comparison:
    """Of one seed. ``optimum`` is a peak in bytes per second that no draining without
    late dumps can stay below."""

    reactive: Outcome
    proactive: Outcome
    optimum: float


def compare_policies(
    target: Target, applications: Iterable[Application], until: float, seed: int
) -> Comparison:
    """Dumps are made until the second ``until``; the seed says when each begins."""
    clients = draw_clients(applications, until, Random(seed))  # noqa: S311 - no secret
    return Comparison(
        Reactive(target).run(clients),
        Proactive(target).run(clients),
        peak(optimum(clients)),
    )
