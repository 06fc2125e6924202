"""How fast a tier is: the figures of the cost model, measured."""
