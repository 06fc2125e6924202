"""What a run would do: one event simulator.

``simulated_clock`` has the clock, the processes and their slots; ``fair_sharing`` has
the servers that they wait for. On them run ``workflow`` (a planned workflow, from what
``demands`` learns) and the machines of pegasus_bb_lab. ``drain_windows`` needs no
clock.
"""
