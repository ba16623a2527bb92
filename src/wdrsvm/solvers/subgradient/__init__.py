"""Subgradient methods: Algorithm 1 of the paper, mini-batches and streams."""
