r"""The l1 norm: the envelope of the modulus, with multipliers.

Most coefficients are at a kink of the modulus L.  A power mean of so many lengths is too
sharp for quasi-Newton steps.  In the place of  radius L(M)  stands its envelope around
multipliers Y of the coefficients,

    E(M) = min over D of  radius L(D) + stiffness/2 ||M + Y / stiffness - D||^2
           - ||Y||^2 / (2 stiffness)   <=   radius L(M).

The gradient of E is a set of multipliers  Y' = stiffness (M + Y / stiffness - D),  and the
radius pays for them whatever Y is.  So the lower bound is good where  E + loss  is least.
Then Y' takes the place of Y, and the sum is minimised again: the method of multipliers.
Once Y stays as it is, E is radius L.
"""
