"""Classifiers of the commands: learned as the options say, or read from a model file."""
