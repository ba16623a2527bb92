"""The command line: thin; one file a command, each with a ``register(app)``."""
