"""A smooth stand-in for the worst-case error rate, and descents on it."""
