"""Checks around a release that are too long for every ``make test``.

Not part of the package: run them from a checkout by ``make dist``, ``make test-matrix`` and
``make mutants``.
"""
