"""What a fitted classifier promises: worst-case risk, worst cases, certified radii."""
