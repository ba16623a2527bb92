"""What a fitted classifier promises in a ball.

``worst_case`` is the worst-case risk, ``certified`` the certified radius; ``errors`` are
worst-case error rates, ``distributions`` what the adversary does, ``sets`` sets of labels.
"""
