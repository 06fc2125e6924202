"""A planned workflow runs in a mode.

* The machine: ``storage_model`` has a server for each place.
* The jobs: ``workload`` is what they ask for, ``outline`` the executable workflow,
  ``work`` what its nodes move in a mode.
* The policy: ``execution`` starts nodes as slots and phases allow.
* What is measured: ``waiting_times``, ``simulated_run`` (a Run), ``prediction`` and
  ``mode_choice``.

``simulator`` joins them. ``calibration`` simulates an earlier run again.
"""
