"""How burst buffers give their dumps to the parallel file system: when, how fast.

Equations, tables and the proactive policy: K. Tang et al., "Toward Managing HPC Burst
Buffers Effectively: Draining Strategy to Regulate Bursty I/O Behavior", MASCOTS 2017.
"""
