"""BLAS has one thread while solvers run, and its own number again afterwards."""

import pytest
from threadpoolctl import threadpool_info

from wdrsvm.solvers.threads import single_threaded_blas


def blas_threads():
    return {
        info["filepath"]: info["num_threads"]
        for info in threadpool_info()
        if info["user_api"] == "blas" and ("numpy" in info["filepath"])
    }


def test_blas_has_one_thread_inside_and_what_it_had_outside():
    before = blas_threads()
    with single_threaded_blas():
        assert set(blas_threads().values()) == {1}
    assert blas_threads() == before


def test_an_error_puts_the_threads_back():
    before = blas_threads()
    with pytest.raises(KeyError), single_threaded_blas():
        raise KeyError
    assert blas_threads() == before
