"""An emulated DataWarp over a folder: the program dw_wlm_cli.

What Slurm's burst_buffer/datawarp plugin calls, with every argument and the words that
it waits for in the answers. Standard library only: it is copied to where it runs.
"""
