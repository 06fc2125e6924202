"""What flash does with files that die at different times: what it copies, its wear.

Algorithms 1 and 2, and the synthetic load: D. Koo et al., "An Empirical Study of I/O
Separation for Burst Buffers in HPC Systems", JPDC 148 (2021).
"""
