r"""Labels from the votes of several annotators, and how far each label can be trusted.

The true class c of a row has the probability p[c].  Annotator j answers k for a row of
class c with the probability t[j, c, k].  EM finds p, t and the probabilities of the true
classes, as Dawid and Skene (1979) do.  Pseudo-votes stand in for votes that an annotator
has not given, in two steps:

    accuracy     a[j]        shrinks to the accuracy of all annotators together,
    confusions   t[j, c, :]  shrinks to a[j] for the right answer, and for the wrong ones to
                             the mistakes that all annotators make.

So an annotator with few votes counts like the average one, and an annotator with many votes
is judged by these votes alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ...arrays import Codes, Floats, Labels
from ...inputs.arrays import are_missing
from ..frames import imported_pandas


@dataclass(frozen=True)
class VoteSettings:
    """Numbers of the EM iterations.

    Attributes
    ----------
    accuracy_votes : float
        Pseudo-votes, at the accuracy of all annotators, for the accuracy of each one.
    confusion_votes : float
        Pseudo-votes per class for the confusions of each annotator.
    common_votes : float
        Pseudo-votes for each class, and for each mistake of all annotators together.
    max_iter : int
        Largest number of iterations.
    tol : float
        Iterations end if no probability changes by more.
    """

    accuracy_votes: float = 4.0
    confusion_votes: float = 10.0
    common_votes: float = 1.0
    max_iter: int = 500
    tol: float = 1e-5


SETTINGS = VoteSettings()


@dataclass(frozen=True, eq=False)
class VotedLabels:
    """Labels that votes agree on, with their certainty and that of the annotators.

    Attributes
    ----------
    row : ndarray of shape (n_rows,)
        The rows that have a vote, sorted.
    label : ndarray of shape (n_rows,)
        The likeliest label of each row.
    probability : ndarray of shape (n_rows,)
        Probability that this label is right; it can serve as ``sample_weight``.
    trust : ndarray of shape (n_rows,)
        Log-odds of the label over the next likely one, divided by their mean: a factor for
        ``label_trust``.  1 is the trust of an average label, 0 is a tie.
    n_votes : ndarray of shape (n_rows,)
        Number of votes of each row.
    classes : ndarray of shape (n_classes,)
        All labels that were voted for, sorted.
    posterior : ndarray of shape (n_rows, n_classes)
        Probabilities of all labels of each row.
    annotator : ndarray of shape (n_annotators,)
        The annotators, sorted.
    reliability : ndarray of shape (n_annotators,)
        Probability that a vote of the annotator is right.
    n_given : ndarray of shape (n_annotators,)
        Number of votes of each annotator.
    confusion : ndarray of shape (n_annotators, n_classes, n_classes)
        Probability of each vote (last axis) for a row of each class.

    Examples
    --------
    >>> from wdrsvm import trust_from_votes
    >>> votes = trust_from_votes([0, 0, 1], ["ann", "bob", "ann"], ["cat", "cat", "dog"])
    >>> votes.label.tolist(), votes.n_votes.tolist()
    (['cat', 'dog'], [2, 1])
    """

    row: Labels
    label: Labels
    probability: Floats
    trust: Floats
    n_votes: Codes
    classes: Labels
    posterior: Floats
    annotator: Labels
    reliability: Floats
    n_given: Codes
    confusion: Floats

    def __repr__(self) -> str:
        return (
            f"VotedLabels({self.n_votes.sum()} votes of {len(self.annotator)} annotators "
            f"on {len(self.row)} rows, {len(self.classes)} classes; mean probability "
            f"{self.probability.mean():.3g})"
        )

    def to_frame(self) -> Any:
        """The labels as a table, one for each row of the data.

        Returns
        -------
        pandas.DataFrame
            Row, label, probability, trust and number of votes.

        Examples
        --------
        >>> from wdrsvm import trust_from_votes
        >>> votes = trust_from_votes([0, 0, 1], ["a", "b", "a"], ["cat", "cat", "dog"])
        >>> votes.to_frame().columns.tolist()
        ['row', 'label', 'probability', 'trust', 'n_votes']
        """
        names = ("row", "label", "probability", "trust", "n_votes")
        columns = {name: getattr(self, name) for name in names}
        return imported_pandas("to_frame").DataFrame(columns)

    def annotators_to_frame(self) -> Any:
        """The annotators as a table, one for each annotator.

        Returns
        -------
        pandas.DataFrame
            Annotator, reliability and number of votes.

        Examples
        --------
        >>> from wdrsvm import trust_from_votes
        >>> votes = trust_from_votes([0, 0, 1], ["a", "b", "a"], ["cat", "cat", "dog"])
        >>> votes.annotators_to_frame()["n_given"].tolist()
        [2, 1]
        """
        names = ("annotator", "reliability", "n_given")
        columns = {name: getattr(self, name) for name in names}
        return imported_pandas("annotators_to_frame").DataFrame(columns)


def trust_from_votes(row: ArrayLike, annotator: ArrayLike, label: ArrayLike) -> VotedLabels:
    """Labels, their trust and the annotators' reliabilities from single votes.

    Annotators who often agree with the others count for more than those who do not.  An
    annotator with few votes counts like the average one.

    Parameters
    ----------
    row : array-like of shape (n_votes,)
        Row of the data that each vote is about: numbers or texts.
    annotator : array-like of shape (n_votes,)
        Who gave the vote: numbers or texts.
    label : array-like of shape (n_votes,)
        The vote: numbers or texts.  A missing vote (None or NaN) is left out, and a row
        without votes is not in the result.

    Returns
    -------
    VotedLabels
        Labels, trust and reliabilities.

    See Also
    --------
    audit_labels : Finds labels that do not fit the features.

    Examples
    --------
    Ann and Bob agree; Eve, whose votes are chance, does not outvote them.

    >>> from wdrsvm import trust_from_votes
    >>> row = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    >>> annotator = ["ann", "bob", "eve"] * 4
    >>> label = ["x", "x", "y", "y", "y", "y", "x", "x", "y", "y", "y", "x"]
    >>> votes = trust_from_votes(row, annotator, label)
    >>> votes.label.tolist()
    ['x', 'y', 'x', 'y']
    >>> votes.annotator[votes.reliability.argmin()].item()
    'eve'

    The labels and their trust go to a fit: ``model.fit(X[votes.row], votes.label,
    label_trust=votes.trust)``.
    """
    votes = _Votes.of(row, annotator, label)
    posterior, confusion = _estimated(votes, SETTINGS)
    best = posterior.argmax(axis=1)
    share = posterior.mean(axis=0)
    return VotedLabels(
        row=votes.rows,
        label=votes.classes[best],
        probability=posterior.max(axis=1),
        trust=_trust(posterior),
        n_votes=np.bincount(votes.row),
        classes=votes.classes,
        posterior=posterior,
        annotator=votes.annotators,
        reliability=np.einsum("c,jcc->j", share, confusion),
        n_given=np.bincount(votes.annotator),
        confusion=confusion,
    )


class _Votes(NamedTuple):
    """Codes of the votes, and what the codes stand for."""

    row: Codes
    annotator: Codes
    label: Codes
    rows: Labels
    annotators: Labels
    classes: Labels

    @classmethod
    def of(cls, row: Any, annotator: Any, label: Any) -> _Votes:
        columns = {"row": row, "annotator": annotator, "label": label}
        given = {name: _column(values, name) for name, values in columns.items()}
        n_votes = len(given["label"])
        for name, column in given.items():
            if len(column) != n_votes:
                raise ValueError(
                    f"{name} must have one entry per vote, got {len(column)} entries for "
                    f"{n_votes} labels."
                )
        is_given = ~are_missing(given["label"])
        if not is_given.any():
            raise ValueError("label must have at least one vote that is not missing.")
        named = {name: _coded(column[is_given], name) for name, column in given.items()}
        names, codes = zip(*named.values(), strict=True)
        return cls(*codes, *names)

    @property
    def counts(self) -> Floats:
        """Votes for each class (n_rows, n_classes)."""
        counts = np.zeros((len(self.rows), len(self.classes)))
        np.add.at(counts, (self.row, self.label), 1.0)
        return counts


def _column(values: Any, name: str) -> Any:
    """The entries as objects: an array of texts would turn a missing vote into a text."""
    plain = values if hasattr(values, "dtype") else np.array(values, dtype=object)
    column = np.asarray(plain)
    if column.ndim != 1:
        raise ValueError(f"{name} must have one axis, got shape {column.shape}.")
    return column


def _coded(column: Any, name: str) -> tuple[Labels, Codes]:
    missing = are_missing(column)
    if missing.any():
        raise ValueError(
            f"{name} must be known for every vote, got {np.count_nonzero(missing)} missing."
        )
    try:
        names, codes = np.unique(column, return_inverse=True)
    except TypeError:
        raise TypeError(f"{name} must have numbers only or texts only, got both.") from None
    return np.array(names.tolist()), codes


def _estimated(votes: _Votes, settings: VoteSettings) -> tuple[Floats, Floats]:
    """Probabilities of the true classes (n_rows, n_classes), and all confusions."""
    counts = votes.counts
    posterior = counts / counts.sum(axis=1, keepdims=True)
    for _ in range(settings.max_iter):
        confusion = _confusions(votes, posterior, settings)
        before, posterior = posterior, _posterior(votes, posterior, confusion, settings)
        if np.abs(posterior - before).max() <= settings.tol:
            break
    return posterior, confusion


def _confusions(votes: _Votes, posterior: Floats, settings: VoteSettings) -> Floats:
    """Expected answers of each annotator to each class, with pseudo-votes."""
    n_classes = len(votes.classes)
    answers = np.zeros((len(votes.annotators), n_classes, n_classes))
    by_vote = answers.transpose(0, 2, 1)
    np.add.at(by_vote, (votes.annotator, votes.label), posterior[votes.row])
    right, total = np.einsum("jcc->j", answers), answers.sum(axis=(1, 2))
    common = (right.sum() + settings.common_votes) / (
        total.sum() + 2 * settings.common_votes
    )
    accuracy = (right + settings.accuracy_votes * common) / (
        total + settings.accuracy_votes
    )
    mistakes = answers.sum(axis=0) + settings.common_votes
    np.fill_diagonal(mistakes, 0.0)
    # With a single class there are no mistakes to divide.
    mistakes /= np.maximum(mistakes.sum(axis=1, keepdims=True), settings.common_votes)
    a = accuracy[:, None, None]
    answers += settings.confusion_votes * (a * np.eye(n_classes) + (1 - a) * mistakes)
    return np.asarray(answers / answers.sum(axis=2, keepdims=True))


def _posterior(
    votes: _Votes, posterior: Floats, confusion: Floats, settings: VoteSettings
) -> Floats:
    """Probabilities of the true classes, given the annotators' confusions."""
    share = posterior.sum(axis=0) + settings.common_votes
    log_odds = np.tile(np.log(share / share.sum()), (len(votes.rows), 1))
    np.add.at(log_odds, votes.row, np.log(confusion[votes.annotator, :, votes.label]))
    return np.asarray(np.exp(log_odds - logsumexp(log_odds, axis=1, keepdims=True)))


def _trust(posterior: Floats) -> Floats:
    """Log-odds of the best label over the next one, divided by their mean."""
    if posterior.shape[1] == 1:
        return np.ones(len(posterior))
    smallest = np.finfo(np.float64).tiny
    ordered = np.log(np.maximum(np.sort(posterior), smallest))
    log_odds = ordered[:, -1] - ordered[:, -2]
    mean = log_odds.mean()
    return np.asarray(log_odds / mean) if mean > 0 else np.ones(len(posterior))
