"""The tuning numbers of the method in matrix products, on one page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProductSettings:
    """Numbers of the steps, the smoothed diameter and the certificate.

    Parameters
    ----------
    max_iter : int
        Steps of a solve where the caller gives no limit.
    memory : int
        Steps whose curvature is remembered.
    first_power, last_power, power_factor : float
        The power of the mean that stands for the diameter: the first, the last, and the
        factor after a quick settling.
    long, least_long_share : float
        Lengths above the mean by this factor have at least this share of what each would
        have if all shares were equal.
    warm_power : float
        The first power where a start is given.
    quick_steps, patience : int
        Steps after which a settling no longer counts as quick, and after which it is
        given up.
    settled : float
        Steps have settled when the next one promises less than this share of what new
        shares of the lengths would add to the smoothed diameter.
    first_mu, mu_factor, last_mu : float
        Smoothing of the maximum over labels: the first one, the factor after each settling,
        and the last one.
    mu_of_price : float
        The last one is no more than this share of the price of a flip.
    price_rtol : float
        On a cluster the price of a flip is found to a budget as close as this.
    most_flipped : float
        The first shares of the labels count on flips of at most this share of the rows.
    least_share : float
        The least share of a label around which the maximum is smoothed.
    max_held : int
        Up to so many scores are kept between the halves of a pass with flips.
    flip_patience : int
        As ``patience``, where labels can be flipped.
    flip_settled : float
        As ``settled``, where labels can be flipped.
    least_left : float
        The preconditioner counts on at least this share of the radius for moves, if flips
        leave less.
    rebuilds : tuple of int
        Steps after which the preconditioner is built again, then every last one of these.
    near : float
        It is not built again when a step promises less than this share of the gap asked
        for.
    start_ridge : float
        Ridge of the first direction, relative to the mean variance of a column.
    start_rows : int
        Rows on which the length of the first direction is chosen.
    single_tol : float
        From this tolerance on, rows are stored in single precision.
    hope : float
        The certificate is computed when the estimated gap is at most this share of the
        allowed gap.
    first_excess, excess_hope : float
        A repair is tried if the gap stays small enough after it costs the second share of
        the last repair's cost, adjusted to what there is to learn of the shares now.  The
        first repair is expected to cost so many times what there is to learn.
    least_scale : float
        Tangents are taken at this multiple of the coefficients, or a larger one.
    most_promise : float
        A flow is looked for if a step promises at most this share of the gap wanted.
    sharp_power : float
        From this power on every step may lead to a certificate.
    first_shortfall, shortfall_hope : float
        A bound is expected to lack the second share of what the last one lacked, adjusted
        to how far the intercepts are out of balance now.  The first bound is expected to
        lack so many times this imbalance.
    flow_rounds : int
        Rounds that shorten the flow of a certificate.
    flow_floor : float
        Weight of every pair at first, as a share of the mean weight, at a tolerance of this
        size; it falls with the tolerance's square.
    repair_rounds : int
        Rounds that shorten pairs longer than most, at most.
    repair_share : float
        Share of the tolerance by which a pair may stay longer.
    most_excess, safe_excess : float
        Pairs are only shortened, without the balance below, if the risk is higher than the
        smoothed one by at most the first multiple of what it may be, and is foreseen to be
        higher by at most the second share of it afterwards.
    balance_share : float
        Before that, forces between the classes are balanced until no pair is longer than
        their mean by this share of the tolerance.
    force_steps : int
        Steps of this balance, at most.
    level_steps : int
        Newton's steps for the level of a balance, at most.
    level_margin : float
        Pairs that would have a force at a level this share lower are looked at.
    least_held : float
        A class counts as held by at least this share of what holds the mean class.
    boldness : float
        Forces follow the lengths by so many times what is safe for certain.
    most_uneven : float
        They are given up when the longest length is so many times the mean one.
    force_patience : int
        They follow half as boldly when the lengths do not become more even in so many
        steps, and no longer after three times as many.
    model_after : int
        Steps within which the first settling must come for the loss's model to be tried.
    model_rows : int
        The model is tried with at least this many rows for each class and fifty more: with
        fewer rows a pass costs no more than a step on the model.
    model_work : float
        The model is tried if each product of a pass takes this many multiply-adds.
    model_rows_per_unknown : int
        It is also tried with so many rows for each coefficient: passes then take long
        beside steps on the model.
    least_single_coefficients : int
        With fewer coefficients their products, and the model of the loss, have double
        precision, which costs nothing then.
    model_rounds, model_steps : int
        Minima of the model to be tried in a row, and steps towards each of them.
    model_pairs : int
        Steps by which the model's curvature is corrected.
    model_settled : float
        As ``settled``, for steps on the model.
    model_share, model_gap_share : float
        The model's steps end when the first share of what there was to gain is left, or
        the second share of the gap asked for.
    model_trust : float
        The model is left when the risk falls by less than this share of what it promised.
    least_unknowns : int
        With fewer coefficients, Newton's method with a matrix of curvature is faster where
        labels can be flipped.
    least_tol_of_few : float
        It is taken below this tolerance, too: its last step squares the error.  So sparse
        rows, which it serves, too, give the same classifier.
    max_sent_unknowns : int
        Up to this many, the workers of a cluster send a matrix of their curvature.
    max_rescued_unknowns : int
        Up to this many, Newton's method with such a matrix tries again where this failed.
    max_kept_winners : int
        A certificate keeps the winners of all rows if they are at most so many.
    rows_per_column, least_curvature_rows : int
        The preconditioner is built from so many rows per column, and at least so many.
    axes_rows_per_column : int
        The principal axes are those of so many rows per column, but of
        ``least_curvature_rows`` at least.
    features_per_row : float
        Rows with more features than this for each row are rotated into their span.
    axes_work : float
        Multiply-adds that find the principal axes of the columns, over their cube.
    passes : int
        Passes over the rows that a fit takes, about.
    basis_steps : int
        After so many steps the basis of the preconditioner follows the curvature.
    correlation_rows : int
        Rows that tell how much columns vary together.
    spared_per_correlation : float
        Steps that these axes spare for each unit of that measure above 1, about.
    spared_steps : tuple of float
        They count as at least and at most so many: a few rows do not show what rare, long
        rows have in common, and axes that cost next to nothing are always taken.
    least_product_classes : int
        A product with C classes takes as long as C and so many more would at full speed.
    step_overhead : float
        Multiply-adds in the time that a step takes beside its products.
    axes : int
        Principal axes of the rows' spread that the preconditioner takes as they are, where
        the norm holds some coefficients and leaves others free.
    least_rest : float
        Share of the mean square of each column that is added to them.
    most_columns : int
        With l1 this is done with at most so many columns for each class: more of them have
        more axes that matter.
    least_work : int
        It is done if a pass takes at least so many products.
    heavy_rows : int
        Rows of each class that the preconditioner takes as they are after ``model_after``
        steps.
    least_heavy_rows : float
        They are looked for if, for all classes together, they are this share of all rows.
    max_heavy_entries : int
        Entries of all these rows together, at most.
    least_heavy_share : float
        They are taken if they have this share of the curvature.
    own_rows, max_own_entries, least_own_work : int
        The preconditioner takes the rows of the classes themselves as they are where no
        class has more than so many, all of them at most so many entries, and a product of
        all rows takes at least so many multiply-adds.
    others_rows : int
        The curvature at the labels of others is then that of so many rows, or more.
    max_asked : int
        Certificates that may fail before the method gives up.
    least_stiffness : float
        The preconditioner takes no direction as softer than this share of the mean mass.
    least_spread : float
        In columns that the norm does not see, the preconditioner counts on a spread of at
        least this share of the mass.
    least_cosine : float
        A step is remembered if it has at least this cosine with the change of the gradient.
    max_stretch : float
        The last step may lengthen the preconditioned direction by at most this factor.
    least_gain : float
        A step must gain this share of what its slope promises.
    risk_rounding, max_slope : float
        A risk that rises by no more than this share has not risen, in single precision, if
        the slope at the end of the step has at most this share of the first one.
    max_trials : int
        Lengths that are tried for a step where each costs a pass.
    least_kept_scores, max_kept_bytes : int
        Scores of rows are kept from step to step if there are so many.  With fewer, calls
        take longer than passes.  Three tables of scores are kept, each of at most so many
        bytes.
    stale : float
        They are computed afresh when a step has less than this share of the largest slope.
    flat : float
        Along kept scores a length is looked for at which the slope has at most this share
        of the first one.
    patient_looks, max_looks : int
        After so many lengths, the next one at which the risk has fallen is taken; after the
        second number of them, none.
    longer, least_cut : float
        The next length is so many times as long while the risk falls.  Between two lengths
        it is at least this share of their distance away from both.
    """

    max_iter: int = 600
    memory: int = 30
    first_power: float = 8.0
    last_power: float = 40.0
    power_factor: float = 1.3
    long: float = 1.001
    least_long_share: float = 0.1
    warm_power: float = 20.0
    quick_steps: int = 6
    patience: int = 10
    settled: float = 0.2
    first_mu: float = 1.0
    mu_factor: float = 0.7
    last_mu: float = 0.5
    mu_of_price: float = 0.05
    price_rtol: float = 1e-9
    most_flipped: float = 0.5
    least_share: float = 1e-13
    max_held: int = 1 << 22
    flip_patience: int = 40
    flip_settled: float = 0.03
    least_left: float = 0.02
    rebuilds: tuple[int, ...] = (6, 20)
    near: float = 0.1
    start_ridge: float = 0.06
    start_rows: int = 500
    single_tol: float = 1e-4
    hope: float = 0.95
    excess_hope: float = 0.8
    first_excess: float = 2.0
    sharp_power: float = 20.0
    most_promise: float = 0.5
    least_scale: float = 0.8
    first_shortfall: float = 0.03
    shortfall_hope: float = 0.5
    flow_rounds: int = 8
    flow_floor: float = 1e-3
    repair_rounds: int = 100
    repair_share: float = 0.1
    most_excess: float = 5.0
    safe_excess: float = 0.8
    model_after: int = 15
    model_rows: int = 8
    model_work: float = 8e7
    model_rows_per_unknown: int = 100
    least_single_coefficients: int = 10_000
    model_rounds: int = 2
    model_steps: int = 40
    model_pairs: int = 10
    model_settled: float = 0.4
    model_share: float = 0.05
    model_gap_share: float = 0.005
    model_trust: float = 0.3
    level_steps: int = 30
    level_margin: float = 0.05
    force_steps: int = 20
    balance_share: float = 0.2
    least_held: float = 0.1
    boldness: float = 3.0
    force_patience: int = 6
    most_uneven: float = 1e3
    least_unknowns: int = 60
    least_tol_of_few: float = 1e-4
    max_sent_unknowns: int = 4000
    max_rescued_unknowns: int = 2500
    max_kept_winners: int = 1 << 25
    rows_per_column: int = 40
    axes_rows_per_column: int = 8
    least_curvature_rows: int = 10000
    features_per_row: float = 2.0
    axes_work: float = 5.5
    passes: int = 30
    basis_steps: int = 30
    correlation_rows: int = 128
    spared_per_correlation: float = 2.0
    spared_steps: tuple[float, float] = (2.0, 35.0)
    least_product_classes: int = 15
    step_overhead: float = 8e6
    axes: int = 20
    least_rest: float = 1e-2
    most_columns: int = 10
    least_work: int = 1 << 25
    heavy_rows: int = 48
    least_heavy_rows: float = 0.2
    max_heavy_entries: int = 1 << 22
    least_heavy_share: float = 0.3
    own_rows: int = 48
    max_own_entries: int = 1 << 24
    least_own_work: int = 150_000
    others_rows: int = 5000
    max_asked: int = 20
    least_stiffness: float = 1e-7
    least_spread: float = 1e-3
    least_cosine: float = 1e-8
    max_stretch: float = 1.5
    least_gain: float = 1e-4
    risk_rounding: float = 1e-6
    max_slope: float = 0.8
    max_trials: int = 8
    least_kept_scores: int = 50_000
    max_kept_bytes: int = 1 << 27
    stale: float = 1e-4
    flat: float = 0.2
    patient_looks: int = 4
    max_looks: int = 20
    longer: float = 2.0
    least_cut: float = 0.1


PRODUCTS = ProductSettings()
