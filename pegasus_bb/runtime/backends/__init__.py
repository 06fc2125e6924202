"""Talk to the systems that serve tiers; one promise, several backends."""
