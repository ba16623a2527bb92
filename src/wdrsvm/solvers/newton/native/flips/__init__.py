"""Kernels for rows whose labels can be flipped."""
