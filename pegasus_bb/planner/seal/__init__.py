"""The seal: an executable DAG that cannot lose data, or none at all."""
