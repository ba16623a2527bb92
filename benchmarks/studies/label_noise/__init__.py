"""Label noise that is known: kinds of noise, votes."""
