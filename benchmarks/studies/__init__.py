"""Studies: claims judged on tables, each with its own report."""
