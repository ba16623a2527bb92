"""One file per transport norm of the first-order method."""
