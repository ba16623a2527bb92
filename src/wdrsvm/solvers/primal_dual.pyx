# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, infer_types=False
"""The interior point's kernels as one compiled module.

Its parts are Python files that run without a compiler, too; compiled together they call
each other as C does.
"""
include "blas.pxi"
include "cones/rows.py"
include "cones/linear_system.py"
include "cones/curvature.py"
include "cones/sample_algebra.py"
include "cones/samples.py"
include "cones/cone.py"
include "cones/polyhedral.py"
include "cones/second_order.py"
include "interior_point/step.py"
