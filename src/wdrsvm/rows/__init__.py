"""Where the rows are: one canonical form, and one reduction over blocks of rows."""
