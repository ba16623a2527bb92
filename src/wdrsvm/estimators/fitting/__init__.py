"""One fit: its steps before and after the solver, and what options change in them."""
