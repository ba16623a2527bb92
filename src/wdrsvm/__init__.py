"""Classifiers that stay right when features are noisy, labels wrong, classes rare."""
