"""Problems that need no solver, or an easier one: tried before the method of the rule."""
