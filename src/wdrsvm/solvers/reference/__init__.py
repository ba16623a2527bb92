"""HiGHS and Clarabel on the paper's program: independent solvers for checks."""
