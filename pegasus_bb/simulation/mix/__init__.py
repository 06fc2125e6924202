"""A machine full of jobs that write checkpoints: which burst buffer serves it best?"""
