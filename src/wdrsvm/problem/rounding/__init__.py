"""Digits of columns far from zero: sums that cancel, and coefficients rounded for them."""
