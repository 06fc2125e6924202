"""Decides which file lives on which tier: model -> Placement."""
