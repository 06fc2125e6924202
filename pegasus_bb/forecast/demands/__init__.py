"""What a task asks of processors and storage, learned from earlier runs.

``demand`` is what is learned, ``learned`` how: from runs on two places (``fit``), or
from what one run counted.
"""
