"""Kernels by name, their parameters, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from wdrsvm.kernels import kernel_of

rng = np.random.default_rng(0)
X, Z = rng.normal(size=(12, 3)), rng.normal(size=(5, 3))


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (kernel_of("linear"), X @ Z.T),
        (kernel_of("rbf", gamma=0.3), rbf_kernel(X, Z, gamma=0.3)),
        (kernel_of("laplacian", gamma=0.3), laplacian_kernel(X, Z, gamma=0.3)),
        (
            kernel_of("poly", gamma=0.3, degree=2, coef0=0.5),
            polynomial_kernel(X, Z, gamma=0.3, degree=2, coef0=0.5),
        ),
        (
            kernel_of(lambda a, b, c: c * a @ b.T, kernel_params={"c": 2.0}),
            2.0 * X @ Z.T,
        ),
    ],
)
def test_values_and_diagonal(kernel, expected):
    np.testing.assert_allclose(kernel(X, Z), expected)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel(X, X)))


@pytest.mark.parametrize("name", ["linear", "rbf", "laplacian", "poly"])
def test_sparse_rows(name):
    kernel = kernel_of(name, gamma=0.3)
    found = kernel(sparse.csr_array(X), sparse.csr_array(Z))
    np.testing.assert_allclose(found, kernel(X, Z))
    np.testing.assert_allclose(kernel.diagonal(sparse.csr_array(X)), kernel.diagonal(X))


def gamma_of(gamma, rows, weight=None):
    return dict(kernel_of("rbf", gamma=gamma, X=rows, weight=weight).parameters)["gamma"]


def test_gamma_as_in_scikit_learn():
    assert gamma_of("scale", X) == pytest.approx(1 / (3 * X.var()))
    assert gamma_of("scale", sparse.csr_array(X)) == pytest.approx(1 / (3 * X.var()))
    assert gamma_of("auto", X) == 1 / 3
    assert gamma_of("scale", np.ones((4, 3))) == 1.0


def test_gamma_takes_weights_for_repetitions():
    times = np.arange(12)
    repeated = gamma_of("scale", X.repeat(times, axis=0))
    assert gamma_of("scale", X, times.astype(float)) == pytest.approx(repeated)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"function": "sigmoid"}, "kernel must be a callable or one of 'linear', 'rbf'"),
        ({"function": 3}, "kernel must be a callable or one of"),
        ({"function": "rbf", "gamma": 0.0}, "gamma must be 'scale', 'auto' or a finite"),
        ({"function": "rbf", "gamma": "wide"}, "gamma must be 'scale', 'auto'"),
        ({"function": "rbf", "gamma": np.inf}, "gamma must be"),
        ({"function": "poly", "gamma": 1.0, "degree": 0}, "degree must be an integer >= 1"),
        ({"function": "poly", "gamma": 1.0, "degree": 2.5}, "degree must be an integer"),
        ({"function": "poly", "gamma": 1.0, "coef0": np.nan}, "coef0 must be a finite"),
        ({"function": "rbf", "kernel_params": {}}, "kernel_params must be None unless"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        kernel_of(**arguments)


def test_a_callable_must_return_an_array_of_pairs():
    with pytest.raises(ValueError, match=r"kernel must be a function of two matrices"):
        kernel_of(lambda a, b: 1.0)(X, Z)
    with pytest.raises(ValueError, match="kernel must return finite values"):
        kernel_of(lambda a, b: np.full((len(a), len(b)), np.nan))(X, Z)
    with pytest.raises(TypeError, match="kernel_params must be None or a dict"):
        kernel_of(lambda a, b: a @ b.T, kernel_params=[1])
