"""Epochs over a few classes of each row, and what their scores foretell."""
