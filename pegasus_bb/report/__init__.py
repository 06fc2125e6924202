"""Records of runs -> Run; compare; render."""
