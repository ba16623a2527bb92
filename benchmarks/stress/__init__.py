"""Trust: every solver on problems made to break it, ``python -m benchmarks.stress``.

The instances are frozen by their seeds: badly scaled, degenerate, nearly singular, of one
row, of many classes, with extreme radii, costs and weights.  Each solver meets each of them
in a process with a time limit.  What it returns is judged by code that shares nothing with
the library and counts in extended precision: the risk of the classifier, whether it is the
one that was claimed, and whether any claimed lower bound lies above a risk that somebody
attained.
"""
