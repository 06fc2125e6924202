"""What a run, or a machine full of jobs, would do: one event simulator.

``kernel`` has the clock and the processes; ``server`` and ``slots`` are what they wait
for. On it run ``workflow`` (a planned workflow, from what ``demands`` learns), ``mix``
(a machine full of jobs) and ``draining``. ``flash`` replays traces, without a clock.
"""
