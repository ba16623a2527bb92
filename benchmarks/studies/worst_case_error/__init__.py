"""Training for the worst-case error rate."""
