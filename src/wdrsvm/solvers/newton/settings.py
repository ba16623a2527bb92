"""The tuning numbers of the smoothing Newton method, on one page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NewtonSettings:
    """Numbers of the rounds, the steps, the smoothing and the polish.

    mu is in units of the loss.  Names that begin with ``smooth_`` belong to
    the smooth losses and replace the number of the same name there.

    Parameters
    ----------
    max_unknowns : int
        The curvature is a dense matrix, which with so many unknowns takes 7 GB.
    max_iter : int
        Newton steps of a solve where the caller gives no limit.
    max_steps_per_round : int
        Newton steps at one mu, at most.
    max_sampled_steps : int
        After so many of them, all rows tell the curvature and no longer a sample.
    first_mu, mu_factor, last_mu : float
        The smoothing of the first round, the factor from each round to the next, and the
        value below which only the polish helps.
    rows_per_coefficient : int
        Rows per coefficient that the sample of the first round has, and the curvature of
        every round.  Fewer make steps too noisy.
    max_sample_entries : int
        A sample with more entries is not copied: rounds then see all rows.
    first_centre : float
        Complementarity of the cone at the start.
    cone_share : float
        Share of the gap that the complementarity of the cone may add.
    step_share, smooth_step_share : float
        How far a step goes towards the boundary of the cone.  Steps of smooth losses stay
        farther away, because labels have kinks beside those of the cone.
    max_trials : int
        Shorter and shorter trials of a step before it counts as failed.
    shortest_cut, longest_cut : float
        A step that is too long is cut to a share of itself between these.
    settled, smooth_settled : float
        Steps have settled when they promise less than this share of the gap; with a smooth
        loss, of the order of the gap that mu leaves.
    well_settled, smooth_well_settled : float
        The same before a certificate, which needs more exact multipliers.  The promised
        decrease is a square, and the error of the multipliers is about its root.
    quadratic : float
        Steps of a smooth loss converge quadratically if each promises less than this share
        of the one before.
    warm_mu : float
        The smoothing of the first round from a given start.
    warm_slack : float
        How far inside the norm constraint a given start is placed, as a share and as an
        absolute number.
    soft_rows_per_coefficient : int
        With fewer rows near a kink, per coefficient, the curvature is useless: rounds end
        and the polish begins.
    tied_mu, tied_share : float
        Below this mu, more than this share of the rows near a kink hints that a constant
        classifier is optimal.
    constant_hope : float
        Try the constant classifier when its dual value is this close, as a share of the
        gap.
    constant_settled : float
        Steps settle to this share of the gap before they prove the constant classifier
        optimal.
    saturated : float
        The curvature of a row is left out when one piece has all but this share of the
        softmax.
    negligible_mass : float
        In a bounded ball, the curvature of a row's label is left out below this share of
        the row's mass.
    torn : float
        Rows whose curvature between labels exceeds this, relative to the loss, are never
        left to a sample.
    stiff : float
        Rows of a smooth loss with less than this share of the mean softness have no
        curvature worth summing.
    barrier_factor, softmax_factor : float
        Factor on mu from each round to the next with a smooth loss, for a barrier and for
        a softmax over the labels.
    cooling_factor : float
        Least factor while mu replaces a lower temperature: a faster change fails.
    softmax_rows_per_coefficient : int
        With fewer rows per coefficient, ties between labels are too few for a softmax, and
        a barrier is used.
    last_softmax_mu, last_barrier_mu : float
        Below the first a barrier takes over from the softmax, for the same reason; below
        the second rounds end.
    last_bounded_mu : float
        Below this mu the rounds of a smooth loss in a bounded ball end.
    slow_round, max_whole_unknowns : int
        A round of a smooth loss in a bounded ball with more steps is slow.  Steps that
        follow move all variables freely, if there are at most so many.
    smooth_hope : float
        Compute a certificate when the expected gap is this share of the requested gap.  A
        certificate that fails costs more than a round.
    near_margin : float
        The polish leaves a row free if its two largest pieces differ by less than so many
        mu.
    widening : float
        Factor on that margin when the free rows were too few.
    bounded_near_margin, bounded_widening : float
        The same in a bounded ball.
    bounded_soft_rows_per_coefficient : float
        In a bounded ball, the number in place of ``soft_rows_per_coefficient``.
    polished_rows_per_coefficient : int
        In a bounded ball the polish leaves at least so many rows free, per coefficient of
        a class.
    polished : float
        The problem of the free rows is solved to this share of the requested gap.
    max_gathered_entries : int
        Free rows on the workers of a cluster are gathered up to so many entries.
    """

    max_unknowns: int = 30_000
    max_iter: int = 500
    max_steps_per_round: int = 50
    max_sampled_steps: int = 10
    first_mu: float = 0.5
    mu_factor: float = 0.4
    last_mu: float = 1e-5
    rows_per_coefficient: int = 30
    max_sample_entries: int = 8_000_000
    first_centre: float = 1e-3
    cone_share: float = 0.1
    step_share: float = 0.99
    smooth_step_share: float = 0.9
    max_trials: int = 30
    shortest_cut: float = 0.25
    longest_cut: float = 0.5
    settled: float = 0.05
    smooth_settled: float = 0.01
    well_settled: float = 1e-5
    smooth_well_settled: float = 1e-14
    quadratic: float = 0.1
    warm_mu: float = 0.03
    warm_slack: float = 1e-2
    soft_rows_per_coefficient: int = 4
    tied_mu: float = 0.05
    tied_share: float = 0.5
    constant_hope: float = 0.2
    constant_settled: float = 1e-10
    saturated: float = 1e-5
    negligible_mass: float = 1e-7
    torn: float = 0.1
    stiff: float = 1e-6
    barrier_factor: float = 0.1
    softmax_factor: float = 0.4
    cooling_factor: float = 0.3
    softmax_rows_per_coefficient: int = 40
    last_softmax_mu: float = 1e-4
    last_barrier_mu: float = 1e-16
    last_bounded_mu: float = 1e-9
    slow_round: int = 7
    max_whole_unknowns: int = 1000
    smooth_hope: float = 0.5
    near_margin: float = 25.0
    bounded_near_margin: float = 100.0
    bounded_widening: float = 3.0
    bounded_soft_rows_per_coefficient: float = 1.0
    polished_rows_per_coefficient: int = 10
    widening: float = 5.0
    polished: float = 0.05
    max_gathered_entries: int = 8_000_000

    @property
    def gap_factor(self) -> float:
        """What a round leaves of the gap, which falls with the square of mu."""
        return self.mu_factor**2

    @property
    def foreseen_factor(self) -> float:
        """What a round of the softmax leaves of the gap at most; mostly its square."""
        return self.softmax_factor


NEWTON = NewtonSettings()
