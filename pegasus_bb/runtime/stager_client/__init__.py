"""Speaking to a staging service: requests, places, tasks."""
