"""Worst-case distributions: what the adversary does with its budget, row by row."""
