"""Smoothing Newton: certified training with many rows."""
