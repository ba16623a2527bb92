"""BLAS has one thread while solvers run, and its own number again afterwards."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
import scipy.linalg  # noqa: F401  (scipy's own BLAS is one of those to be limited)
from threadpoolctl import threadpool_info, threadpool_limits

from wdrsvm.solvers.runtime.blas_threads import single_threaded_blas


def blas_threads():
    return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def three_threads():
    """A number to put back that is not 1, however few processors there are."""
    with threadpool_limits(limits=3, user_api="blas"):
        assert set(blas_threads()) == {3}
        yield


def test_blas_has_one_thread_inside_and_what_it_had_outside():
    with single_threaded_blas():
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {3}


def test_an_error_puts_the_threads_back():
    with pytest.raises(KeyError), single_threaded_blas():
        raise KeyError
    assert set(blas_threads()) == {3}


@pytest.mark.parametrize("last", [0, 1, 2])
def test_the_last_of_overlapping_fits_puts_the_threads_back(last):
    """Whichever ends last, and while the threads of all of them live on."""
    begun, ends = [Event() for _ in range(3)], [Event() for _ in range(3)]

    def fit(number):
        with single_threaded_blas():
            begun[number].set()
            ends[number].wait(10)
            return set(blas_threads())

    with ThreadPoolExecutor(3) as pool:
        fits = []
        for number in range(3):  # one after another, so that it is known who is first
            fits.append(pool.submit(fit, number))
            assert begun[number].wait(10)
        for number in sorted(range(3), key=lambda number: number == last):
            assert set(blas_threads()) == {1}
            ends[number].set()
            assert fits[number].result(10) == {1}
        assert set(blas_threads()) == {3}


def test_a_thread_that_has_ended_leaves_the_limit_to_others():
    def fit():
        with single_threaded_blas():
            return set(blas_threads())

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(fit).result() == {1}
        with threadpool_limits(limits=2, user_api="blas"):
            assert set(blas_threads()) == {2}
            assert pool.submit(fit).result() == {1}
            assert set(blas_threads()) == {2}
        assert set(blas_threads()) == {3}
