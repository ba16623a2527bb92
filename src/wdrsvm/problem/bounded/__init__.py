"""Bounded features and categories: the worst case and its certificate."""
