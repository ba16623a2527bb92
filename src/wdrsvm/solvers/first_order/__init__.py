"""First-order training in high dimension: no dense system, sparse rows stay sparse."""
