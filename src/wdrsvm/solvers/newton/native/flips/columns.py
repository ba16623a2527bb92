r"""The largest loss of each sample over its labels, smoothed around given shares.

For sample n with scores z and the label y a flip to label c costs price_n.  The loss is

    temperature logsumexp(z / temperature) + mu log sum_c exp(prior_c - cost_c / mu),
    cost_c = z_c + price_n [c != y].

The second term is the largest  -cost_c  over the labels c, less mu times
the divergence of the shares Q_c, its slopes, from exp(prior_c).  Its price enters only by

    span = z_y - mu prior_y + mu log sum_{c != y} exp(prior_c - z_c / mu):

the label is flipped with the share  1 / (1 + exp((price_n - span) / mu)).
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import log

from ....runtime.kernel_names import (
    Count,
    Either,
    EitherTable,
    EitherVector,
    Flag,
    ReadCodes,
    ReadEitherTable,
    ReadTable,
    ReadVector,
    Real,
    Table,
    Vector,
    inner,
    kernel,
)
from ..column_powers import NOTHING, falling_power, fill_powers, find_tops, scale_columns

# A trust from here on is infinite: the label is never flipped.
INFINITE = cython.declare(Real, 1e300)
# A label whose span is so many mu below its price is not flipped at all.
UNFLIPPED = cython.declare(Real, 50.0)


@kernel
def _fill_exponents(
    z: EitherTable, prior: ReadEitherTable, sharp: Either, exponents: EitherTable
) -> None:
    j: Count
    n: Count
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            exponents[j, n] = prior[j, n] - z[j, n] * sharp


@kernel
def _sum_powers(
    z: EitherTable,
    shares: EitherTable,
    top: EitherVector,
    total: EitherVector,
    mean: EitherVector,
) -> None:
    """Replace exponents by powers; sum these, and these times the scores."""
    j: Count
    n: Count
    power: Either
    for n in range(z.shape[1]):
        total[n] = 0.0
        mean[n] = 0.0
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            power = falling_power(shares[j, n] - top[n])
            shares[j, n] = power
            total[n] += power
            mean[n] += power * z[j, n]


def find_spans(
    z: EitherTable,
    prior: ReadEitherTable,
    y: ReadCodes,
    mu: Real,
    shares: EitherTable,
    spans: Vector,
    means: Vector,
    scales: Vector,
):
    """Fill the spans (n,), the shares of the other labels (C, n), which are 0 for the label
    itself, the mean score (n,) under these shares, and the scales (n,) by which they sum to
    1."""
    n: Count
    kind = np.float32 if Either is cython.float else np.float64
    sharp: Either = 1.0 / mu
    of_rows: EitherTable = np.empty((3, z.shape[1]), kind)
    top: EitherVector = of_rows[0]
    total: EitherVector = of_rows[1]
    mean: EitherVector = of_rows[2]
    with cython.nogil:
        _fill_exponents(z, prior, sharp, shares)
        # The power of the label itself is then nothing beside the others.
        for n in range(z.shape[1]):
            shares[y[n], n] = NOTHING
        find_tops(shares, top)
        _sum_powers(z, shares, top, total, mean)
        for n in range(z.shape[1]):
            shares[y[n], n] = 0.0
            scales[n] = 1.0 / total[n]
            means[n] = mean[n] * scales[n]
            spans[n] = z[y[n], n] + mu * (log(total[n]) + top[n] - prior[y[n], n])


@inner
def _flipped(excess: Real) -> Real:
    """1 / (1 + exp(-excess))."""
    power: Real = falling_power(excess if excess < 0 else -excess)
    return (power if excess < 0 else 1.0) / (1.0 + power)


@inner
def _excess(span: Real, price: Real, trust: Real, mu: Real) -> Real:
    """By how many mu the span exceeds the price of a flip."""
    if trust >= INFINITE:
        return -UNFLIPPED
    return (span - price * trust) / mu


def count_flips(
    price: Real, spans: ReadVector, weight: ReadVector, trust: ReadVector, mu: Real
):
    """Sums of the flips, each times its trust, and minus their slope in the price."""
    n: Count
    excess: Real
    share: Real
    spent: Real = 0.0
    slope: Real = 0.0
    with cython.nogil:
        for n in range(spans.shape[0]):
            excess = _excess(spans[n], price, trust[n], mu)
            if excess > -UNFLIPPED:
                share = _flipped(excess)
                spent += weight[n] * trust[n] * share
                slope += weight[n] * trust[n] * trust[n] * share * (1.0 - share) / mu
    return spent, slope


def highest_price(spans: ReadVector, trust: ReadVector, mu: Real):
    """A price at which nobody flips a label that can be trusted; low if there is none."""
    n: Count
    price: Real
    highest: Real = -INFINITE
    for n in range(spans.shape[0]):
        if 0.0 < trust[n] < INFINITE:
            price = (spans[n] + UNFLIPPED * mu) / trust[n]
            highest = price if price > highest else highest
    return highest


@kernel
def _weigh(z: Table, masses: Table, weight: ReadVector) -> None:
    """Replace shares p by the slopes w (p - Q)."""
    j: Count
    n: Count
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            z[j, n] = weight[n] * (z[j, n] - masses[j, n])


@kernel
def _weigh_spreads(
    z: Table, masses: Table, weight: ReadVector, sharp: Real, mu: Real
) -> None:
    """Replace shares p by  w (p (1 - p) sharp + Q (1 - Q) / mu)."""
    j: Count
    n: Count
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            z[j, n] = z[j, n] * (1.0 - z[j, n]) * sharp
            z[j, n] = weight[n] * (z[j, n] + masses[j, n] * (1.0 - masses[j, n]) / mu)


@kernel
def rows_of_flips(
    own: ReadVector,
    rises: Vector,
    weight: ReadVector,
    trust: ReadVector,
    price: Real,
    mu: Real,
    spans: ReadVector,
    means: ReadVector,
    flipped: Vector,
    sums: Vector,
) -> None:
    """Fill the share (n,) of each sample that is flipped, and add to the sums.

    ``own`` has the scores of the labels, and ``rises`` begins with mu times the logarithm
    of the shares before.  The sums are the loss without the logsumexp of the scores, the
    flips times the trust, what the flips add to the loss, and mu times the divergence.
    """
    n: Count
    excess: Real
    power: Real
    for n in range(spans.shape[0]):
        excess = _excess(spans[n], price, trust[n], mu)
        flipped[n] = 0.0
        if excess > -UNFLIPPED:
            power = falling_power(excess if excess < 0 else -excess)
            flipped[n] = (power if excess < 0 else 1.0) / (1.0 + power)
            rises[n] += mu * ((excess if excess > 0 else 0.0) + log(1.0 + power))
        sums[0] += weight[n] * (rises[n] - own[n])
        sums[2] += weight[n] * rises[n]
        sums[3] -= weight[n] * (rises[n] + flipped[n] * (means[n] - own[n]))
        if flipped[n] > 0:
            sums[1] += weight[n] * trust[n] * flipped[n]
            sums[3] -= price * weight[n] * trust[n] * flipped[n]


def soften_flips(
    z: Table,
    shares: Table,
    prior: ReadTable,
    y: ReadCodes,
    weight: ReadVector,
    trust: ReadVector,
    temperature: Real,
    price: Real,
    mu: Real,
    spans: ReadVector,
    means: ReadVector,
    scales: ReadVector,
    spread: Flag,
):
    """Replace the scores z (C, n) by the slopes w (p - Q), and the shares by the masses Q.

    ``spans``, ``means``, ``scales`` and the shares are those of :func:`find_spans`.  If
    ``spread``, the scores are replaced by the curvature of each score alone.  Returns the
    sums over the samples of the loss, of the flips times the trust, of what the flips add
    to the loss, and of mu times the divergence of Q from exp(prior).
    """
    n: Count
    sums: Vector = np.zeros(4)
    share: Vector = np.empty(z.shape[1])
    rises: Vector = np.empty(z.shape[1])
    own: Vector = np.empty(z.shape[1])
    top: Vector = np.empty(z.shape[1])
    total: Vector = np.empty(z.shape[1])
    with cython.nogil:
        for n in range(z.shape[1]):
            own[n], rises[n] = z[y[n], n], mu * prior[y[n], n]
        rows_of_flips(own, rises, weight, trust, price, mu, spans, means, share, sums)
        for n in range(z.shape[1]):
            total[n] = share[n] * scales[n]
        scale_columns(shares, total)
        for n in range(z.shape[1]):
            shares[y[n], n] = 1.0 - share[n]
        find_tops(z, top)
        fill_powers(z, top, total, 1.0 / temperature)
        for n in range(z.shape[1]):
            sums[0] += weight[n] * (temperature * log(total[n]) + top[n])
            total[n] = 1.0 / total[n]
        scale_columns(z, total)
        if spread:
            _weigh_spreads(z, shares, weight, 1.0 / temperature, mu)
        else:
            _weigh(z, shares, weight)
    return sums[0], sums[1], sums[2], sums[3]
