"""What every solver runs under: BLAS threads and interrupts."""
