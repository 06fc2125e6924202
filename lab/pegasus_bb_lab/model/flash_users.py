"""Users of a flash device. A full one deletes its oldest files (Koo et al., 5.2).

users:                 # each deletes its oldest files when its capacity is full
  count: 32
  threads: 2
  file: 64MB
  drop: 0.15           # share of its files
  capacities: [1, 2, 3, 4, 5, 6, 7, 8]
  configuration: 3     # 1: a stream's users have one capacity, 2: half, 3: none
"""

from __future__ import annotations

from dataclasses import dataclass

from pegasus_bb.model.document import Entry
from pegasus_bb.model.quantities import count, numbers, positive, size
from pegasus_bb.model.records import key

CONFIGURATIONS = (1, 2, 3)
MOST = 1000  # users, workflows, tasks of a stage
many = count(MOST)


def _configuration(entry: Entry) -> int:
    if type(entry.data) is not int or entry.data not in CONFIGURATIONS:
        raise entry.error("configuration is 1, 2 or 3")
    return entry.data


@dataclass(frozen=True, slots=True)
class Users:
    count: int = key(many)
    threads: int = key(many)
    file: int = key(size())  # bytes
    # Share of its files that a full user deletes, the oldest.
    drop: float = key(positive(1))
    capacities: tuple[float, ...] = key(numbers(MOST, "capacities: [1, 2, 4]"))
    configuration: int = key(_configuration)  # of CONFIGURATIONS
