"""Run tasks of experiments: what a task is, its timing, the store of results, the pace."""
