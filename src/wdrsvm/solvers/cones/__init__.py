"""The cones of the transport norms, and the linear algebra of rows and cones."""
