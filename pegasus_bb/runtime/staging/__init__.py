"""Moving data safely: standard library only, runs on compute nodes."""
