"""HTCondor's DAGMan as the engine: ``running.run`` submits a DAG and follows it.

DAGMan does the work, and writes jobstate.log in the local engine's own format (the
.dag says so) and rescue files in its own, which either engine reads. What becomes of
DAGMan itself stands in <dag>.dagman.log.
"""
