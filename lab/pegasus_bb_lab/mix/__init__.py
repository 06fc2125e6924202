"""A machine full of jobs that compute and write checkpoints.

* The machine: ``buffers``, made of ``servers`` and ``stripes``.
* The jobs: ``pipelines``, drawn from a mix.
* The policy: ``batch`` is the queue, ``intervals`` when a checkpoint is due.
* What is measured: ``measures``; ``trace`` has every event.

``campaign`` is one simulation, ``study`` is every one of ``cases`` with every seed,
``compare`` and ``summary`` say what differs. ``effort`` refuses what takes hours.
"""
