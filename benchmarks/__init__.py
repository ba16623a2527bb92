"""Speed against independent solvers: ``python -m benchmarks [FAMILY ...] [--tiny]``.

A result is a ratio of times measured in one process with the same number of threads on
both sides.  Every objective and bound is recomputed from what the solvers return; times
never include the first fit, which compiles.  To add a family, write a module with a
``FAMILY`` in ``families/`` and list it in ``families/__init__.py``.
"""
