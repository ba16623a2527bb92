"""The tuning numbers of the smoothed lengths, on one page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LengthSettings:
    """Numbers of the lengths, the steps on them and the flow.

    Parameters
    ----------
    width : float
        Width of the smoothing of a difference, relative to the mean size of a difference.
    last_power : float
        The last power of the mean of the lengths.
    tied_share : float
        The preconditioner takes at least this share of the weight of all pairs as tied in
        every column.
    class_share : float
        The same where it does not know which pairs are tied in a column.
    held_share : float
        Where it knows which pairs are tied in a column, it takes this share of their
        weights: what they tie together can still move as one.
    bend_share : float
        Share of the bend of the power mean along each class that it takes, too.
    axes, axes_of_all : int
        Principal axes of the rows' spread that the preconditioner takes as they are; more
        of them if they are still at most so many for all classes together.
    heavy_after : int
        Steps after which it takes heavy rows.
    least_age : int
        Steps that a preconditioner lasts, at least.
    patience : int
        Steps after which shares and multipliers are adapted in any case.
    settled : float
        Steps have settled when the next one promises less than this share of what new
        shares and multipliers would add to the risk.
    model_reach : float
        A model of the loss is tried where new shares and multipliers would add less than
        this share of the risk.
    model_first : float
        As ``settled``, where the model may be tried.
    model_age : int
        Steps that its curvature lasts, at least.
    model_rounds : int
        Minima of the model in a row, at most.
    model_pays : float
        While multipliers rest, plain steps go on in its place where such a row of minima
        leaves more than this share of what was out of balance.
    model_steps : int
        Steps on the model, at most.
    model_balance : float
        They end when, besides, no more than this share of what was out of balance still is.
    model_share : float
        Shares and multipliers are learnt there until this share of what there was to learn
        is left.
    model_patience, model_settled : int, float
        As ``patience`` and ``settled``, for steps on the model.
    rest_share : float
        Shares and multipliers stay as they are once there is less to learn than this share
        of the gap wanted: from then on, steps only bring the gradient into balance.
    rest_promise : float
        Before that, the next step promises at most this share of the gap wanted.
    most_missed : float
        They are adapted again when there is more to learn than this share of it.
    bound_share : float
        Share of the gap wanted that may lie between a bound and the smoothed risk.
    balance_rounds, balance_steps : int
        Rounds that look for a classifier then, and steps on the model for each of them.
    sharp_power, sharp_width : float
        The power of the mean and the width of the smoothing in these rounds.
    flow_rounds : int
        Rounds that fit the flow of a certificate to the gradient.
    flow_damping : float
        Share of what is missing that each of them takes away at most.
    flow_hope : float
        The flow is expected to cost this share of what the gradient of the smoothed risk
        would cost, beyond the radius.
    repair_rounds : int
        Rounds that shorten the longest differences.
    repair_pull : float
        A class in more long pairs than this is pulled less by each of them.
    least_unknowns : int
        With fewer unknowns, Newton's method with a matrix of curvature is as fast, and
        reaches smaller gaps.
    max_entries : int
        Differences of pairs of classes have at most so many entries.
    max_kept_flow : int
        A result keeps a flow of at most so many entries.
    max_iter : int
        Steps of a solve where the caller gives no limit.
    """

    width: float = 0.5
    last_power: float = 25.0
    tied_share: float = 0.1
    class_share: float = 0.25
    held_share: float = 0.7
    bend_share: float = 0.3
    axes: int = 30
    axes_of_all: int = 1200
    heavy_after: int = 5
    least_age: int = 6
    patience: int = 10
    settled: float = 0.1
    model_reach: float = 0.03
    model_first: float = 0.2
    model_steps: int = 50
    model_share: float = 0.3
    model_age: int = 6
    model_balance: float = 0.4
    model_rounds: int = 3
    model_pays: float = 0.5
    model_patience: int = 10
    model_settled: float = 0.3
    rest_share: float = 0.03
    rest_promise: float = 0.1
    most_missed: float = 0.1
    bound_share: float = 0.5
    balance_rounds: int = 16
    balance_steps: int = 6
    sharp_power: float = 80.0
    sharp_width: float = 0.25
    flow_rounds: int = 8
    flow_damping: float = 0.9
    flow_hope: float = 0.6
    repair_rounds: int = 30
    repair_pull: float = 3.0
    least_unknowns: int = 400
    max_entries: int = 3 << 23
    max_kept_flow: int = 1 << 22
    max_iter: int = 1500


LENGTHS = LengthSettings()
