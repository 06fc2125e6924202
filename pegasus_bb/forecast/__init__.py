"""What a run would do: one event simulator.

``kernel`` has the clock and the processes; ``server`` and ``slots`` are what they wait
for. On it run ``workflow`` (a planned workflow, from what ``demands`` learns) and the
machines of pegasus_bb_lab. ``drain_windows`` needs no clock.
"""
