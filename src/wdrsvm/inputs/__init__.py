"""Checks of the user's arguments: arrays, labels, weights and dask collections."""
