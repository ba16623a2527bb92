"""Lower bounds of the optimum from multipliers."""
