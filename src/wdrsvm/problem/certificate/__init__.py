"""The certificate: lower bounds of the optimum from multipliers."""
