"""The rows of the data: one canonical form, and one reduction over blocks of rows."""
