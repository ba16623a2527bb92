"""The rows of the data: one canonical form, and one reduction over blocks of rows.

``canonical.py`` drops rows of zero weight, merges equal rows and sorts.  ``dask_rows.py``
drops rows of zero weight in each chunk.  No other module needs to know of such rows.
"""
