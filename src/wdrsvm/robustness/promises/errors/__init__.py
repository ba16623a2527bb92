"""Worst-case error rates: what each error costs the adversary, and curves over radii."""
