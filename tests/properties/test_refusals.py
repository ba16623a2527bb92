"""Whatever is given, a classifier fits or refuses with a sentence, and stays as it was."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from wdrsvm import (
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustOneVsRestSVC,
    RobustSVC,
    RobustSVCCV,
    WassersteinBall,
    audit_labels,
    certified_radius,
    radius_max,
    robust_path,
    worst_case_distribution,
    worst_case_risk,
)

from .drawn import examples, quiet

KINDS = [
    RobustLinearSVC,
    RobustLogisticRegression,
    RobustOneVsRestSVC,
    RobustSVC,
    RobustLinearSVCCV,
    RobustSVCCV,
]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 2))
y = np.arange(12) % 3
SMALL = {"radii": [0.1], "label_costs": [2.0], "cv": 2}
ODD = [
    *(None, True, False, -1, 0, 1, 2.5, -0.5, 1e-9, np.inf, -np.inf, np.nan, "", "l1", "x"),
    *(
        b"l2",
        [],
        [1.0],
        [1.0, 2.0],
        [1.0, np.nan],
        [[0.0, 1.0]],
        np.zeros((3, 3)),
        {},
        {"a": 1},
    ),
    *(np.ones((3, 3)), np.full((3, 3), -1.0), (0, 1), ([0, 0], [1, 1]), ([2, 2], [1, 1])),
    *(object(), 1j, np.array("l1"), np.float32(0.5), np.int8(1), [([0], 1.0)], [(0,)]),
    *(
        "balanced",
        {0: -1.0},
        {0: "x"},
        {5: 1.0},
        "auto",
        "newton",
        "highs",
        "random",
        10**400,
    ),
]
ROWS = [
    *(X[:5], X[:0], X[:, :1], X[:, :0], X[0], X[None], X.tolist(), X.astype("f4"), X * 1j),
    *(
        X.astype(str),
        X.astype(object),
        np.where(X > 1, np.nan, X),
        np.full((12, 2), np.inf),
        None,
        "text",
        5,
    ),
    *(sparse.csr_array(X), sparse.coo_matrix(X), np.ones((12, 2)), 1e200 * X, {"a": X}),
    *(np.ma.masked_array(X, X > 0), np.full((12, 2), "2020-01-01", dtype="M8[s]"), X > 0),
]
LABELS = [
    *(
        y,
        y[:5],
        y * 0,
        y.astype(str),
        y.astype(object),
        y + 0.5,
        y.astype(float),
        None,
        "text",
    ),
    *(np.where(y, np.nan, 1.0), y[:, None], np.c_[y, y], y > 0, y.tolist(), [None] * 12, 7),
    *([[1], [2, 3]] * 6, y * 1j, [b"a", b"b", b"c"] * 4, ["a", 1, "b"] * 4, np.arange(12)),
]
COLUMNS = [
    *(
        None,
        np.ones(12),
        np.zeros(12),
        -np.ones(12),
        np.ones(5),
        np.full(12, np.nan),
        1,
        "x",
    ),
    *(
        np.full(12, np.inf),
        np.ones((12, 1)),
        np.ones((12, 2)),
        ["a"] * 12,
        np.arange(12),
        [1e308],
    ),
    *(np.full(12, 1e308), np.full(12, 1e-320), [True] * 12, np.ones(12) * 1j, object()),
]
ENDED = (ValueError, TypeError)


def check_refusal(error):
    """A sentence, in which arrays have lines of their own; libraries have their own way."""
    text = str(error)
    assert text.strip(), repr(error)
    ours = error.__traceback__
    while ours.tb_next is not None:
        ours = ours.tb_next
    if "wdrsvm" in ours.tb_frame.f_code.co_filename:
        assert text.rstrip().endswith("."), text


def answered(call):
    """Call; the answer, or None if it was refused in the way it should be."""
    with quiet(), np.errstate(all="ignore"):
        # Such as that a column vector was given, or that numbers are complex.
        warnings.simplefilter("ignore")
        try:
            return call()
        except ENDED as error:
            check_refusal(error)
            return None


def made(kind, **parameters):
    small = SMALL if kind in (RobustLinearSVCCV, RobustSVCCV) else {}
    return kind(**small | parameters)


odd = st.sampled_from(range(len(ODD))).map(ODD.__getitem__)


@examples(100)
@given(st.data(), st.sampled_from(KINDS), odd, odd)
def test_parameters(drawn, kind, value, other):
    names = sorted(set(made(kind).get_params()) - {"verbose", "n_jobs"})
    chosen = drawn.draw(
        st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)
    )
    parameters = dict(zip(chosen, (value, other), strict=False))
    model = made(kind, **{"max_iter": 100} | parameters)
    before = vars(model).copy()
    fitted = answered(lambda: model.fit(X, y))
    if fitted is None:
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is before[name] for name in before)
    else:
        assert fitted.predict(X).shape == (12,)


@examples(40)
@given(
    st.sampled_from(KINDS[:4]),
    st.sampled_from(range(len(ROWS))),
    st.sampled_from(range(len(LABELS))),
    st.sampled_from(range(len(COLUMNS))),
    st.sampled_from(range(len(COLUMNS))),
)
def test_data(kind, rows, labels, weight, trust):
    model = made(kind, max_iter=100)
    options = {"sample_weight": COLUMNS[weight]}
    if kind is not RobustOneVsRestSVC:
        options["label_trust"] = COLUMNS[trust]
    fitted = answered(lambda: model.fit(ROWS[rows], LABELS[labels], **options))
    assert fitted is not None or vars(model).keys() == vars(made(kind)).keys()
    model = made(kind).fit(X, y)
    for method in ("predict", "decision_function", "certified_radius"):
        if hasattr(model, method):
            answered(lambda method=method: getattr(model, method)(ROWS[rows]))


@examples(50)
@given(
    st.sampled_from(["risk", "distribution", "radius", "max", "path", "audit", "ball"]),
    st.sampled_from(range(len(ROWS))),
    st.sampled_from(range(len(LABELS))),
    odd,
    odd,
)
def test_functions(name, rows, labels, value, other):
    model, given_X, given_y = RobustLinearSVC().fit(X, y), ROWS[rows], LABELS[labels]
    ball = WassersteinBall(0.1, 2.0)
    calls = {
        "risk": lambda: worst_case_risk(model, given_X, given_y, ball, loss=value),
        "distribution": lambda: worst_case_distribution(
            model, given_X, given_y, ball, tail_mass=value
        ),
        "radius": lambda: certified_radius(model, given_X, value, other),
        "max": lambda: radius_max(given_X, given_y, label_cost=value, norm=other),
        "path": lambda: robust_path(given_X, given_y, value, other),
        "audit": lambda: audit_labels(given_X, given_y, cv=value),
        "ball": lambda: WassersteinBall(value, other),
    }
    if name == "path" and isinstance(value, int) and abs(value) > 100:
        value = 100
    answered(calls[name])


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_that_is_none_of_its_values(kind):
    """A refusal names its parameter."""
    skipped = {"verbose", "n_jobs", "random_state", "fit_intercept", "warm_start", "refit"}
    for name in sorted(set(made(kind).get_params()) - skipped):
        if name in ("degree", "coef0", "gamma", "kernel_params", "n_components", "cv"):
            continue
        with quiet(), pytest.raises(ENDED, match=name.removesuffix("s").split("_")[0]):
            made(kind, **{name: object()}).fit(X, y)
