r"""Calmness of a kernel: how far the features Phi(x) move when the inputs x move.

A kernel is calm if ||Phi(x) - Phi(x')|| <= f(||x - x'||_2) with f concave and f(t) >= t.
The condition f(t) >= t is needed because label changes use the same budget at an unchanged
price.  The ball of radius eps around the inputs then lies within the ball of radius f(eps)
around the features.

The other direction needs no bound by a concave function.  Features move by

    ||Phi(x) - Phi(x')||^2 = 2 - 2 exp(-gamma ||x - x'||_2^2)        rbf
                             2 - 2 exp(-gamma ||x - x'||_1)          laplacian
                             gamma ||x - x'||_2^2                    poly of degree 1

(gamma = 1 for a linear kernel).  This equation is solved for the movement of the inputs.
"""

from __future__ import annotations

import math
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from .functions import Kernel

# 1 over the order of each norm.
INVERSE_ORDERS = {"l1": 1.0, "l2": 0.5, "linf": 0.0}


def lifted_radius(radius: float, kernel: Kernel, n_features: int) -> float:
    """Radius in the feature space that covers a given radius of inputs, in the l2 norm.

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
    if _is_affine(kernel):
        return float(radius) * max(1.0, math.sqrt(parameters["gamma"]))
    raise _not_calm(kernel)


def _laplacian(radius: float, steepness: float) -> float:
    """sqrt(2 s t) up to t = s / 2, where the slope is 1; beyond, a line of slope 1."""
    if radius <= steepness / 2:
        return math.sqrt(2 * steepness * radius)
    return radius + steepness / 2


def input_distance(
    distance: ArrayLike, kernel: Kernel, n_features: int, norm: str = "l2"
) -> Floats:
    """Least movement of inputs that can move the features by given distances.

    Parameters
    ----------
    distance : array-like
        Distances in the feature space, at least 0.
    kernel : Kernel
        A calm kernel: linear, rbf, laplacian, or poly of degree 1.
    n_features : int
        Number of features of the inputs.
    norm : {"l1", "l2", "linf"}, default="l2"
        Norm of the movement of the inputs.

    Returns
    -------
    ndarray
        Lower bounds of the movement.  They are exact in the norm of the kernel's formula
        (l1 for laplacian, l2 for the others), and ``inf`` for distances that features
        never reach.

    Examples
    --------
    >>> from wdrsvm.kernels import input_distance, kernel_of
    >>> input_distance([0.0, 1.0, 2.0], kernel_of("rbf", gamma=2.0), n_features=5).round(3)
    array([0.   , 0.589,   inf])
    """
    reach = np.asarray(distance, dtype=np.float64)
    if not (reach >= 0).all():
        raise ValueError(f"distance must be >= 0 in every entry, got {distance!r}.")
    gamma = dict(kernel.parameters).get("gamma", 1.0)
    if kernel.function == "laplacian":
        moved, own = _saturating(reach) / gamma, "l1"
    elif kernel.function == "rbf":
        moved, own = np.sqrt(_saturating(reach) / gamma), "l2"
    elif kernel.function == "linear" or _is_affine(kernel):
        moved, own = reach / math.sqrt(gamma), "l2"
    else:
        raise _not_calm(kernel)
    return np.asarray(moved / _largest(own, norm, n_features))


def _saturating(reach: Floats) -> Floats:
    """The t with 2 - 2 exp(-t) = reach^2; inf where there is no such t."""
    share = reach**2 / 2
    within = share < 1
    return np.where(within, -np.log1p(-np.where(within, share, 0.0)), np.inf)


def _largest(measured: str, norm: str, n_features: int) -> float:
    """The largest norm ``measured`` of a movement whose other ``norm`` is 1."""
    if not isinstance(norm, str) or norm not in INVERSE_ORDERS:
        allowed = ", ".join(repr(name) for name in INVERSE_ORDERS)
        raise ValueError(f"norm must be one of {allowed}, got {norm!r}.")
    power = max(0.0, INVERSE_ORDERS[measured] - INVERSE_ORDERS[norm])
    return float(n_features**power)


def _is_affine(kernel: Kernel) -> bool:
    return kernel.function == "poly" and dict(kernel.parameters)["degree"] == 1


def _not_calm(kernel: Kernel) -> ValueError:
    return ValueError(
        "kernel must be calm to convert distances of inputs and features into each other: "
        f"'linear', 'rbf', 'laplacian' or 'poly' of degree 1, got {_described(kernel)}."
    )


def _described(kernel: Kernel) -> str:
    if callable(kernel.function):
        return "a callable"
    degree = dict(kernel.parameters).get("degree")
    return repr(kernel.function) + (f" of degree {degree}" if degree else "")
