"""One file per command, each with a function ``register(app)``."""
