"""Label noise that is known: descents, finders, kinds of noise, votes."""
