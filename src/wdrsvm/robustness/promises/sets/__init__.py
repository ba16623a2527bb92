"""Sets of labels: what leaving a set costs the adversary, and thresholds for coverage."""
