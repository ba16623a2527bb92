"""Parameters of a search: the search's own, and the parameters of its estimator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

# The default of a parameter that ``label_noise`` resolves (``defaults``).
AUTO = "auto"
# The search's own parameters, and their defaults.
OWN_PARAMETERS = {
    "radii": AUTO,
    "label_costs": AUTO,
    "cv": AUTO,
    "scoring": None,
    "refit": True,
    "one_standard_error": False,
    "stop_early": True,
    "n_jobs": None,
}
POSITIONAL = ("radii", "label_costs")
# Parameters of the estimator whose default is different in a search.
OTHER_DEFAULTS = {"norm": AUTO}
# Parameters of the estimator that the search sets itself.
SEARCHED = ("radius", "label_cost", "warm_start")


def search_init(estimator: type) -> Callable[..., None]:
    """An ``__init__`` that stores the parameters of the search and of the estimator."""
    theirs = {
        name: OTHER_DEFAULTS.get(name, parameter.default)
        for name, parameter in inspect.signature(estimator).parameters.items()
        if name not in SEARCHED
    }
    kind = inspect.Parameter
    parameters = [kind("self", kind.POSITIONAL_OR_KEYWORD)] + [
        kind(
            name,
            kind.POSITIONAL_OR_KEYWORD if name in POSITIONAL else kind.KEYWORD_ONLY,
            default=default,
        )
        for name, default in (OWN_PARAMETERS | theirs).items()
    ]
    signature = inspect.Signature(parameters)

    def __init__(*args: Any, **kwargs: Any) -> None:  # noqa: N807
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        searcher = bound.arguments.pop("self")
        for name, value in bound.arguments.items():
            setattr(searcher, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def check_refit(refit: Any) -> None:
    """Refuse a ``refit`` that is neither a bool nor a name."""
    if not isinstance(refit, bool | np.bool_ | str):
        raise ValueError(
            f"refit must be True, False or the name of a scorer, got {refit!r}."
        )
