"""How fast a tier really is: blocks written and read by many processes, measured."""
