"""The runtime of all solvers: compiled kernels, BLAS threads and interrupts."""
