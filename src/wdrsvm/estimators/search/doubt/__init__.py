"""Searches with random label noise: fits that doubt labels, and the labels they suspect."""
