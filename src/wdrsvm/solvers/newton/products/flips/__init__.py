"""Passes over rows whose labels can be flipped."""
