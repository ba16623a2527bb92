"""Smooth losses with many coefficients: matrix products and no curvature matrix."""
