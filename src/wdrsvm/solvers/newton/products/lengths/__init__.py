r"""The linf norm: a power mean of the pairs' lengths, each smoothed with multipliers.

L(M) is the largest l1 length  sum_d |M_id - M_jd|  of a pair of classes.  It has kinks of
two kinds: many pairs have the largest length, and in most columns many classes have the
same coefficient.

1. The largest length is replaced by a power mean with shares, as for l2 (``..diameter``).
2. Each |M_id - M_jd| is replaced by its Moreau envelope around a multiplier t between -1
   and 1.  The slope of the envelope is a new multiplier.

Where the smoothed risk is least, the slopes times the weights of the pairs are a flow with
the divergence that the loss asks for.  It costs no more than the radius, because no slope
is larger than 1.  Then the shares and the multipliers are adapted, and the risk is
minimised again.  Once they stay as they are, the power mean is L.

Where a pass over the rows takes long, three things save passes.

- The preconditioner knows which coefficients the pairs hold (``..held``).
- Close to the end, shares and multipliers are learnt from minima of a model of the loss,
  which needs no pass (``model``).
- Once little is left to learn, they stay as they are.  New ones would bring the gradient
  out of balance, and the lower bound needs a gradient in balance.  The classifier comes
  from the model, with shares and multipliers that go on being learnt.
"""
