r"""A radius that covers linear classifiers alone, and shrinks like 1 / sqrt(n).

The data are n independent rows of a distribution whose features lie within R of a centre
c, in the transport norm.  L(M) is the largest dual norm of a difference of two rows of M,
and B L(M) bounds the differences of two scores at the centre.  The worst-case risk of
(M, b) in a ball of radius eps is at least its empirical Crammer-Singer risk plus
eps L(M), whatever the label costs.  So that it bounds the true risk as soon as the
deviation of the loss divided by L(M) is at most eps for all (M, b) at once.

*One scale.*  Divide M and b by L(M) and put s = 1 / L(M).  What is left of the loss, less
the constant s, is

    h(x, y) = max( -s, max over j != y of z_j - z_y ),     L(M) = 1.

|z_j - z_y| <= D = R + B, so that s in [0, D] is all that matters and |h| <= D.  By
symmetrisation and McDiarmid's inequality, with probability at least ``confidence``,

    E h - mean of h  <=  2 Rad + 2 D sqrt( log(1 / (1 - confidence)) / 2n )

for all h at once, where Rad is the expected Rademacher complexity of the class.

*Complexity.*  With independent signs, E || mean of sign x || <= K / sqrt(n), where K = R
for l1 and l2, and K = R min(sqrt(d), sqrt(2 log 2d)) for linf in d features.

- Two classes: h is the maximum of -s and of one linear function w'x + b with
  ||w||_* <= 1, and the complexity of a maximum is at most the sum:
  Rad sqrt(n) <= K + B + D / 2.
- C classes: h has gradients (e_j - e_y, 0) and (0, -1) in (z, s), of Euclidean length
  sqrt(2) at most, so that Maurer's vector contraction gives
  Rad <= 2 E sup of the mean of sum_k sign_k z_k + sign_0 s, one sign a row and score.
  One vector may be added to all rows of M.  In the dual of l1 all entries are then at
  most 1/2 in size; of l2, the squared lengths sum to (C - 1) / 2 at most; of linf, every
  row has length 1 - 1/C at most; and every intercept is at most B / 2.  Hence
  Rad sqrt(n) <= a K + C B + D with a = C, sqrt(2 C (C - 1)), 2 (C - 1).
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from ...problem import NORMS


def linear_radius(
    reach: Floats,
    n_samples: int,
    n_classes: int,
    norm: str,
    confidence: float,
    fit_intercept: bool,
) -> float:
    """The radius of the module's text.

    ``reach`` is how far each feature is from its centre at most, times its price.
    """
    distance = float(NORMS[norm].of_rows(reach))
    # At a tie of two classes inside the reach the scores at the centre differ by no more.
    offset = distance if fit_intercept else 0.0
    largest = distance + offset
    rough = distance * _roughness(norm, int(np.count_nonzero(reach)))
    if n_classes == 2:
        complexity = rough + offset + largest / 2
    else:
        complexity = _class_factor(norm, n_classes) * rough + n_classes * offset + largest
    deviation = largest * np.sqrt(-np.log1p(-confidence) / 2)
    return float(2 * (complexity + deviation) / np.sqrt(n_samples))


def _roughness(norm: str, n_features: int) -> float:
    """K / R: how much longer a mean of signed rows is in this norm."""
    if norm != "linf" or n_features == 0:
        return 1.0
    return float(min(np.sqrt(n_features), np.sqrt(2 * np.log(2 * n_features))))


def _class_factor(norm: str, n_classes: int) -> float:
    """What several classes cost, from the freedom of adding one vector to all of them."""
    factors = {
        "l1": n_classes,
        "l2": np.sqrt(2 * n_classes * (n_classes - 1)),
        "linf": 2 * (n_classes - 1),
    }
    return float(factors[norm])
