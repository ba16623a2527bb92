r"""How far features move when inputs do: from a radius of inputs to one of features.

A kernel is calm if ||Phi(x) - Phi(x')|| <= f(||x - x'||_2) with f concave and f(t) >= t (as
label changes draw on the same budget at an unchanged price).  The ball of radius eps around
the inputs then lies within the ball of radius f(eps) around their features.
"""

from __future__ import annotations

import math
from numbers import Real

from .functions import Kernel


def lifted_radius(radius: float, kernel: Kernel, n_features: int) -> float:
    """Radius of features whose ball contains that of inputs, under the l2 norm.

    Parameters
    ----------
    radius : float
        Radius of a ball around the inputs.
    kernel : Kernel
        A calm kernel: linear, rbf, laplacian, or poly of degree 1.
    n_features : int
        Number of features of the inputs.

    Returns
    -------
    float
        The radius for a kernel model.

    Examples
    --------
    >>> from wdrsvm.kernels import kernel_of, lifted_radius
    >>> lifted_radius(0.1, kernel_of("rbf", gamma=2.0), n_features=5)
    0.2
    """
    if not isinstance(radius, Real) or isinstance(radius, bool) or not radius >= 0:
        raise ValueError(f"radius must be a number >= 0, got {radius!r}.")
    parameters = dict(kernel.parameters)
    if kernel.function == "laplacian":
        return _laplacian(float(radius), parameters["gamma"] * math.sqrt(n_features))
    if kernel.function == "linear":
        return float(radius)
    if kernel.function == "rbf":
        return float(radius) * max(1.0, math.sqrt(2 * parameters["gamma"]))
    if kernel.function == "poly" and parameters["degree"] == 1:
        return float(radius) * max(1.0, math.sqrt(parameters["gamma"]))
    raise ValueError(
        f"kernel must be calm to convert a radius of inputs into one of features: "
        f"'linear', 'rbf', 'laplacian' or 'poly' of degree 1, got {_described(kernel)}."
    )


def _laplacian(radius: float, steepness: float) -> float:
    """sqrt(2 s t) until its slope has fallen to 1 at t = s / 2, then straight on."""
    if radius <= steepness / 2:
        return math.sqrt(2 * steepness * radius)
    return radius + steepness / 2


def _described(kernel: Kernel) -> str:
    if callable(kernel.function):
        return "a callable"
    degree = dict(kernel.parameters).get("degree")
    return repr(kernel.function) + (f" of degree {degree}" if degree else "")
