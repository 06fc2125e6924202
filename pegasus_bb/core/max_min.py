"""Max-min fair rates, for users who share targets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def max_min_rates(
    users: Sequence[tuple[float, Collection[str]]], capacities: Mapping[str, float]
) -> list[float]:
    """Return how fast each of ``users`` goes: (its own limit, the targets it uses).

    Each is as fast as its limit, or as fast as any other that uses a target whose
    capacity is used up (Bertsekas and Gallager 1992, section 6.5.2). Two simulators
    have faster forms for one target, which tests hold against this one: SharedServer
    of forecast/server.py for an event at a time, SharedServers of pegasus_bb_lab for
    thousands of servers in NumPy.
    """
    left = dict(capacities)
    speeds = [0.0] * len(users)
    open_users = set(range(len(users)))
    while open_users:
        counts: dict[str, int] = {}
        for user in open_users:
            for name in users[user][1]:
                counts[name] = counts.get(name, 0) + 1
        equal = {name: left[name] / count for name, count in counts.items()}
        bounds = {
            user: min([users[user][0], *(equal[name] for name in users[user][1])])
            for user in open_users
        }
        lowest = min(bounds.values())
        for user, bound in bounds.items():
            if bound <= lowest * (1 + 1e-9):
                speeds[user] = lowest
                open_users.discard(user)
                for name in users[user][1]:
                    left[name] = max(0.0, left[name] - lowest)
    return speeds
