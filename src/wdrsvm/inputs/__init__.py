"""What users give us, checked once: arrays, labels, weights, dask collections."""
