"""Promises in units that people read: how often a classifier can be wrong."""
