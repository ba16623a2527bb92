"""The tuning numbers of the first-order method, on one page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FirstOrderSettings:
    """Numbers of the epochs, their checks, the proximal steps and the kernels.

    Parameters
    ----------
    default_work : float
        Multiply-adds of a solve where the caller gives no limit of epochs.
    min_epochs, max_epochs : int
        Limits of the number of epochs that follows from ``default_work``.
    first_check : int
        Epoch of the first certificate.  A check costs as much as two or three epochs.
    min_interval, max_interval : int
        Epochs between two checks, at least and at most.
    max_interval_share : float
        After many epochs the longest interval is this share of them.
    fading_optimism : float
        What an estimate was too good by counts so many times as much at the next one.
    near_gaps, near_interval : float, int
        From an estimate of so many times the goal on there are at most so many epochs to
        the next one: it costs less than an epoch or two too many.
    stall_epochs : int
        A solve of fewer epochs never counts as stalled.
    stall_factor : float
        A solve has stalled when the last half of its epochs left more than this share of
        the gap.
    hopeful_gaps : float
        A trial does not give up once the gap is so many times its goal, or less.
    first_hopeful_gap : float
        A short trial gives up at the first check if the relative gap is larger than this.
    short_trial : int
        Epochs of a short trial, at most.
    sweeps_per_turn : int
        One of so many epochs of a hinge looks at all rows, the others only at rows that are
        not at rest.
    full_sweeps : int
        So many epochs of a hinge look at all classes of their rows before places of rows
        are looked for.
    rows_per_class_at_means, scores_per_near_class : int, float
        A hinge begins at the classifier of the class means, and without those epochs, if
        there are at most so many rows for each class, and at least so many scores for each
        that is near the largest one of its row.
    narrow_sweeps, place_width : int, float
        In so many epochs after such a beginning, places of a row are only its classes whose
        loss is so near the largest one: many more have a loss than will have mass.
    place_slack : float
        A class is a place of a row if it lacks no more than this to have a loss.
    scores_per_place, turns_of_few_places : float, int
        If there are more scores than so many for each place, places serve for so many turns
        in place of one: scores take longer than visits then.
    short_pass_work, max_passes : float, int
        An epoch goes over its rows again, at most so many times in all, while this is less
        than so many products with an entry: its other steps take longer then.
    restless_passes, restless_share : int, float
        After that it goes so many times over the share of its rows that moved most in the
        last epoch: half of the rows make four fifths of the moves and more.
    place_paces : int
        Adaptations of the pairs are so many times as far apart in such an epoch.
    paces_with_push : float
        The weights of the pairs go on in the direction of the last epoch before one that
        adapts them at most so many times among its rows: most adaptations are at its end
        then, where rows do not answer them.
    min_patience, patience : int, float
        Places are given up when the gap has not fallen for so many epochs and for this
        share of all epochs.
    scores_at_a_time : int
        Scores of rows that are held in memory while places are looked for, about.
    max_unsure_share : float
        Slacks of rows at rest are computed anew when more than this share of all rows may
        have lost theirs.
    least_slack_work : float
        With fewer multiply-adds per epoch all rows are visited instead: that is as fast.
    first_mean : int
        Epochs after which checks look at the mean of the last points too.  Shorter solves
        gain less by it than the look costs.
    least_share_of_mean : float
        The last point's share in the running mean of points, at least.
    points_of_mean : float
        Before that, the share is this number over the number of points.
    least_gain : float
        A multiple of a point is looked at if it promises to gain this share of the gap.
    row_tol_share : float
        Rows are settled to this share of the gap: more accuracy would not change the gap.
    first_row_tol, least_row_tol : float
        Limits of that tolerance, at the start and next to rounding.
    least_single_row_tol : float
        Rows that are settled to this tolerance or a larger one are multiplied in single
        precision.
    single_squares : tuple of float
        Limits of the largest squared length of such rows: single precision has a small
        range.
    pair_weight_share : float
        Pairs of classes keep at least this share of the gap as weight.
    free_share : float
        Mean curvature of a free column relative to that of all touchable columns of a row.
    least_stiffness : float
        The curvature of the touchable columns counts as at least this share of the natural
        one.
    least_lam_share : float
        lam never falls below this share of its first value, or it could not grow again.
    max_softening, place_softening : float
        Largest factor by which a check changes the proximal steps, and a look among places:
        there epochs settle their rows better, and can afford longer steps.
    tolerated_ratio : float
        The proximal steps stay while objective and bound are off by factors no farther
        apart than this.
    min_softness, max_softness : float
        Limits of the proximal steps, relative to the first ones.
    max_moving_share : float
        A bound is computed from copies of the rows that are not at rest if they are at
        most this share of all rows, and else from all rows.
    max_moving_entries : int
        The copies have at most so many entries.
    least_moving_entries : int
        With fewer masses in all it is computed from all rows, which takes no longer.
    max_dense_unknowns : int
        Up to this many unknowns, dense systems of the certificate cost next to nothing.
    max_dense_work : float
        The same for rows times squared unknowns.
    least_density : float
        From this share of nonzeros on, running over all columns is faster than looking
        them up.
    features_per_turned_row, turned_rows_per_class : int
        Dense rows with at least so many features for each row, and at most so many rows for
        each class, are turned into their span (l2): a turn takes as long as some epochs.
    least_column_share : float
        Columns rarer than this share of the mean get no larger steps.
    max_dense_masses : int
        A table of the masses of rows and classes is sparse if a dense one had more entries.
    entries_of_part : int
        Entries of rows, and of their masses, that are dense at a time then.
    max_call_work : float
        Multiply-adds of one call into compiled code, about: an interrupt waits for its
        end.
    place_work : int
        Multiply-adds for each entry of a row that is settled among its places, about.
    systems_per_row : int
        Multiply-adds for a row of a smooth loss, in units of C^3, beside its products.
    rows_per_adaptation : int
        Rows between two adaptations of the pairs and of the pressure (l2), at most.
    adaptations_per_epoch : int
        At least so many adaptations in an epoch.
    min_last_adaptations, max_last_adaptations : int
        Limits of the number of adaptations at the end of an epoch.  With one of them the
        weights of 1000 classes did not settle, with three they took twice as many epochs.
    adaptation_work : float
        Between these limits the adaptations take no longer than the rows if one takes so
        many multiply-adds of a row's products for each pair of classes.
    adaptation_cost : int
        Cost of twenty adaptations, 6 C^3 each, over that of a row, 4 C for each nonzero, in
        units of C^2 per nonzero.  Rows should take most of the time, also in single
        precision.
    prices_per_epoch : int
        How often an epoch settles the price (l1), after which the box holds: often, but
        rows should take most of the time.
    max_moves : int
        Moves of mass in one visit of a hinge's row, at most.  A row that is not settled by
        then is visited again in the next epoch.
    max_newton_steps, max_halvings, max_transfers : int
        For a row of a smooth loss, at most: Newton steps for its point, halvings of one of
        these steps, and transfers of mass between labels.
    residual_share : float
        The point of such a row is found to this share of the row's tolerance.
    lowest_price_share : float
        lam falls at most to this share of its centre before the centre moves.
    max_price_growth : float
        Largest factor by which one Newton step raises lam (l1, linf).
    max_price_steps : int
        Newton steps for lam with the coefficients as they are, at most (l1).
    price_tol : float
        These steps end when lam changes by no more than this share.
    pair_power : float
        Power of the distance by which the weight of a pair grows (l2): the power of the
        part of a distance that all pairs of a class have in common.
    max_power_factor : float
        Classes of little weight have a larger power, by this factor at most (triangle).
    pair_step : float
        The rest of a distance has a power by which a change of the weight alone would take
        away this share of it.
    max_pair_power : float
        The largest such power.
    class_rounds : int
        Rounds that find the common parts.
    max_pair_change : float
        Largest factor by which one adaptation changes a weight or the pressure.
    least_pressure : float
        The pressure stays above this share of the radius, or it could not grow again.
    block_rows : int
        Dense rows that share one matrix product (l2).
    flow_rounds : int
        Rounds of the search for the shortest flow (l2), at most.
    flow_rtol : float
        The search ends when a round gains less than this share of the relative gap.
    max_height_steps : int
        Newton steps for the height at which a flow is clipped, at most (linf).
    height_tol : float
        These steps end when the height changes by no more than this share.
    least_damping_change : float
        The damping of the class metric (l2) moves when it is off by this factor.
    start_power, start_floor : float
        A start puts weights on the pairs of classes in proportion to this power of their
        distance, relative to the largest distance, plus the floor (l2).
    box_rounding : float
        A coefficient is on the boundary of its box if it is within this share of it (l1).
    """

    default_work: float = 3e10
    min_epochs: int = 1000
    max_epochs: int = 30_000
    first_check: int = 6
    min_interval: int = 2
    max_interval: int = 8
    max_interval_share: float = 0.3
    fading_optimism: float = 0.5
    near_gaps: float = 2.0
    near_interval: int = 3
    stall_epochs: int = 2000
    stall_factor: float = 0.9
    hopeful_gaps: float = 5.0
    first_hopeful_gap: float = 0.4
    short_trial: int = 60
    sweeps_per_turn: int = 4
    full_sweeps: int = 2
    rows_per_class_at_means: int = 30
    scores_per_near_class: float = 10.0
    narrow_sweeps: int = 3
    place_width: float = 0.3
    place_slack: float = 0.02
    scores_per_place: float = 60.0
    turns_of_few_places: int = 2
    short_pass_work: float = 1.2e6
    max_passes: int = 3
    restless_passes: int = 2
    restless_share: float = 0.5
    place_paces: int = 2
    paces_with_push: float = 4.0
    min_patience: int = 40
    patience: float = 0.5
    scores_at_a_time: int = 200_000
    max_unsure_share: float = 0.3
    least_slack_work: float = 1e7
    first_mean: int = 15
    least_share_of_mean: float = 0.1
    points_of_mean: float = 5.0
    least_gain: float = 0.1
    row_tol_share: float = 0.05
    first_row_tol: float = 1e-3
    least_row_tol: float = 1e-13
    least_single_row_tol: float = 3e-7
    single_squares: tuple[float, float] = (1e-10, 1e10)
    pair_weight_share: float = 0.01
    free_share: float = 0.1
    least_stiffness: float = 0.3
    least_lam_share: float = 1e-12
    max_softening: float = 2.0
    place_softening: float = 1.5
    tolerated_ratio: float = 5.0
    min_softness: float = 0.1
    max_softness: float = 100.0
    max_moving_share: float = 0.8
    max_moving_entries: int = 20_000_000
    least_moving_entries: int = 50_000
    max_dense_unknowns: int = 100
    max_dense_work: float = 1e7
    least_density: float = 0.1
    features_per_turned_row: int = 4
    turned_rows_per_class: int = 30
    least_column_share: float = 1e-2
    max_dense_masses: int = 10_000_000
    entries_of_part: int = 10_000_000
    max_call_work: float = 5e7
    place_work: int = 10
    systems_per_row: int = 30
    rows_per_adaptation: int = 300
    adaptations_per_epoch: int = 8
    min_last_adaptations: int = 4
    max_last_adaptations: int = 10
    adaptation_work: float = 4.5
    adaptation_cost: int = 30
    prices_per_epoch: int = 4
    max_moves: int = 40
    max_newton_steps: int = 30
    max_halvings: int = 20
    max_transfers: int = 20
    residual_share: float = 0.1
    lowest_price_share: float = 0.1
    max_price_growth: float = 10.0
    max_price_steps: int = 4
    price_tol: float = 1e-6
    pair_power: float = 2.0
    max_power_factor: float = 100.0
    pair_step: float = 0.1
    max_pair_power: float = 300.0
    class_rounds: int = 4
    max_pair_change: float = 2.0
    least_pressure: float = 1e-6
    block_rows: int = 32
    flow_rounds: int = 50
    flow_rtol: float = 0.01
    max_height_steps: int = 60
    height_tol: float = 1e-10
    least_damping_change: float = 1.1
    start_power: float = 8.0
    start_floor: float = 1e-3
    box_rounding: float = 1e-9


FIRST_ORDER = FirstOrderSettings()
