"""How burst buffers give their dumps to the parallel file system: when, how fast.

Equations, tables and the proactive policy: K. Tang et al., "Toward Managing HPC Burst
Buffers Effectively: Draining Strategy to Regulate Bursty I/O Behavior", MASCOTS 2017.

* The machine: ``equations`` say how fast a target takes a segment.
* The jobs: ``dumps`` of applications; ``application_map`` has those that run.
* The policy: ``reactive`` and ``proactive``, each a ``group``; ``optimum`` is the line
  that none can beat (``taut_string``), ``windows`` its times for a real run.
* What is measured: ``outcome``; ``comparison`` has all policies on the same dumps.

``provision`` is the bandwidth that a site has to buy.
"""
