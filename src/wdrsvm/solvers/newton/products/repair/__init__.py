"""Classifiers whose longest differences are shortened: what a descent offers at the end."""
