"""From a rewritten workflow to a sealed submit directory."""
