"""A planned workflow runs in a mode.

* The machine: ``storage`` has a server for each of the ``places``.
* The jobs: ``workload`` is what they ask for, ``outline`` the executable workflow,
  ``work`` what its nodes move in a mode.
* The policy: ``execution`` starts nodes as slots and ``phase_order`` allow.
* What is measured: ``clock``, ``waits``, ``simulated_run`` (a Run), ``prediction`` and
  ``choice`` (the mode to take).

``simulator`` joins them. ``calibration`` simulates an earlier run again.
"""
