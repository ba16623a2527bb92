"""One fit: its steps before and after the solver, and what options change in them.

``steps.py`` begins with a table of all warnings of a fit: the reason, and where it is told.
"""
