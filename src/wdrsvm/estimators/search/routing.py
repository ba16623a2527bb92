"""Metadata routing of a search: arguments for the splitter and for the scorers."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    process_routing,
)

from .defaults import is_auto
from .judges import ALONE, groups_alone, routed_name, scorers_of


class RoutingMixin:
    """The scorers of a search, and who gets which arguments of ``fit`` and ``score``."""

    # ``score`` passes weights to the scorer, so that it needs no request of its own.
    __metadata_request__score = {"sample_weight": UNUSED}  # noqa: RUF012

    _searched: type
    cv: Any
    scoring: Any
    refit: Any

    def get_metadata_routing(self) -> MetadataRouter:
        """Which arguments besides X and y the splitter and the scorers request.

        Returns
        -------
        MetadataRouter
            The routing of this search.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(
            splitter=check_cv(None if is_auto(self.cv) else self.cv, classifier=True),
            method_mapping=MethodMapping().add(caller="fit", callee="split"),
        )
        scorers = self._scorers()
        for name, scorer in scorers.items():
            if hasattr(scorer, "get_metadata_routing"):
                mapping = MethodMapping().add(caller="fit", callee="score")
                if name in (ALONE, self.refit):
                    mapping.add(caller="score", callee="score")
                router.add(method_mapping=mapping, **{routed_name(name): scorer})
        return router

    def _routed(
        self, sample_weight: Any, label_trust: Any, params: dict[str, Any]
    ) -> Bunch:
        """Arguments of the splitter and of the scorers."""
        known = {"sample_weight": sample_weight, "label_trust": label_trust}
        known = {name: value for name, value in known.items() if value is not None}
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, "fit", **known, **params)
        return Bunch(splitter=Bunch(split=groups_alone(self, params)))

    def _scorers(self) -> dict[str, Any]:
        return scorers_of(self._searched(), self.scoring)

    def _metric(self, scorers: dict[str, Any]) -> str:
        """Name of the scorer that decides."""
        if list(scorers) == [ALONE]:
            return ALONE
        if not isinstance(self.refit, str) or self.refit not in scorers:
            raise ValueError(
                f"refit must name one of the scorers {list(scorers)} when there are "
                f"several, got {self.refit!r}."
            )
        return self.refit
