"""An estimator with a history is the estimator that a new one would be.

A machine fits, streams, changes parameters, copies, saves and predicts in any order; a
model of what counts (the parameters, and the data since the last whole fit) is enough to
build a fresh estimator, and both must agree.
"""

import copy
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from wdrsvm import (
    RobustLinearSVC,
    RobustLogisticRegression,
    load_model,
    robust_path,
    save_model,
)

from .drawn import examples, quiet

N_CLASSES, N_FEATURES = 3, 2


def rows(seed, n_rows=14):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % N_CLASSES
    return rng.normal(size=(n_rows, N_FEATURES)) + y[:, None], y


DATA = [rows(seed) for seed in range(3)]
PARAMETERS = {
    "radius": [0.0, 0.02, 0.1, 0.5],
    "label_cost": [0.5, 2.0, np.inf],
    "norm": ["l1", "l2", "linf"],
    "fit_intercept": [True, False],
    "class_weight": [None, {0: 2.0}],
    "tol": [1e-4, 1e-6],
    "random_state": [None, 3],
    "warm_start": [True, False],
}
changes = st.sampled_from(
    [(name, value) for name, values in PARAMETERS.items() for value in values]
)
which = st.sampled_from(range(len(DATA)))


class Histories(RuleBasedStateMachine):
    """``model`` has the history; ``story`` is what a new estimator has to be told."""

    @initialize(kind=st.sampled_from([RobustLinearSVC, RobustLogisticRegression]))
    def begin(self, kind):
        self.model, self.story = kind(), []

    def told(self):
        """A fresh estimator, told the story."""
        fresh = type(self.model)()
        with quiet():
            for parameters, method, data, weight in self.story:
                fresh.set_params(**parameters)
                options = (
                    {"classes": np.arange(N_CLASSES)} if method == "partial_fit" else {}
                )
                getattr(fresh, method)(*DATA[data], sample_weight=weight, **options)
        return fresh

    @property
    def is_fitted(self):
        return bool(self.story)

    @property
    def is_warm(self):
        """Whether the last fit began where another one ended."""
        return self.model.get_params()["warm_start"]

    @rule(data=which, weighted=st.booleans())
    def fit(self, data, weighted):
        weight = np.arange(1.0, 15.0) if weighted else None
        with quiet():
            assert self.model.fit(*DATA[data], sample_weight=weight) is self.model
        entry = (self.model.get_params(), "fit", data, weight)
        # A warm start depends on all that came before, an ordinary fit on nothing.
        self.story = [*self.story, entry] if self.is_warm else [entry]
        self.agrees_with_a_cold_fit(*entry)

    def agrees_with_a_cold_fit(self, parameters, method, data, weight):
        cold = type(self.model)(**parameters | {"warm_start": False})
        with quiet():
            cold.fit(*DATA[data], sample_weight=weight)
        slack = 1e-9
        assert cold.dual_bound_ <= self.model.objective_ + slack
        assert self.model.dual_bound_ <= cold.objective_ + slack

    @rule(data=which)
    def partial_fit(self, data):
        with quiet():
            self.model.partial_fit(*DATA[data], classes=np.arange(N_CLASSES))
        self.story = [*self.story, (self.model.get_params(), "partial_fit", data, None)]

    @rule(change=changes)
    def set_params(self, change):
        self.model.set_params(**dict([change]))

    @rule()
    def bad_fit(self):
        before = vars(self.model).copy()
        X, y = DATA[0]
        with pytest.raises(ValueError, match="at least 2 classes"):
            self.model.fit(X, 0 * y)
        with pytest.raises(ValueError, match="NaN"):
            self.model.fit(X * np.nan, y)
        assert vars(self.model) == before

    @rule()
    def copied_without_its_fit(self):
        """A clone has the parameters and no more."""
        parameters = self.model.get_params()
        self.model, self.story = clone(self.model), []
        assert self.model.get_params() == parameters
        with pytest.raises(NotFittedError):
            self.model.predict(DATA[0][0])

    @rule(
        copied=st.sampled_from(
            [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
        )
    )
    def copied_as_it_is(self, copied):
        self.model = copied(self.model)

    @precondition(lambda self: self.is_fitted)
    @rule()
    def saved_and_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            self.model = load_model(save_model(self.model, Path(folder) / "model"))

    @precondition(lambda self: self.is_fitted)
    @rule(data=which)
    def used(self, data):
        """Whatever is asked of it leaves it as it was."""
        X, y = DATA[data]
        before = vars(self.model).copy()
        with quiet():
            self.model.predict(X)
            self.model.worst_case_risk(X, y)
            self.model.worst_case_distribution(X, y)
            self.model.certified_radius(X)
            robust_path(X, y, [0.1, 0.01], [2.0], norm=self.model.norm)
        assert vars(self.model) == before

    @invariant()
    def is_what_a_new_one_would_be(self):
        if not getattr(self, "story", []):
            return
        fresh = self.told()
        X = DATA[0][0]
        for name in ("coef_", "intercept_", "classes_", "objective_", "lambda_", "n_iter_"):
            np.testing.assert_array_equal(
                getattr(self.model, name), getattr(fresh, name), err_msg=name
            )
        np.testing.assert_array_equal(self.model.predict(X), fresh.predict(X))


TestHistories = Histories.TestCase
TestHistories.settings = settings(examples(8), stateful_step_count=10)
