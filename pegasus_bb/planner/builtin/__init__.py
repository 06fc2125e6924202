"""The built-in planner: sharedfs on one site, laid out as pegasus-plan lays it out.

``build`` decides everything and writes nothing; ``write`` puts it on disk at once.
"""
