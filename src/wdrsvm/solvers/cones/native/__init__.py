"""Sources of kernels that several families share; see ``runtime.native``."""
