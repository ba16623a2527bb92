"""Sizes and coverage of sets."""
