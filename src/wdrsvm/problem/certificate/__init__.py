"""The certificate: lower bounds of the optimum from multipliers.

``bound.py`` is the way in: ``dual_bound`` turns any multipliers into a lower bound.

- ``multipliers.py``, ``smooth.py``: multipliers of hinge losses and of smooth losses.
- ``repair.py``, ``equalities.py``, ``tilts.py``: how they are made feasible.
- ``joint.py``: one more way to make them feasible, dense and exact.
- ``radius_envelope.py``: the bound at other radii.
- ``gap.py``: the relative gap.

Bounded balls have their own bound in ``problem/bounded/certificate.py``.
"""
