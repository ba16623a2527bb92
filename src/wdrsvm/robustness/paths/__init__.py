"""Classifiers on grids of radii and label costs."""
