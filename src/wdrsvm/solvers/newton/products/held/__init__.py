r"""Steps where the norm holds some coefficients and leaves others free.

With the l1 norm a coefficient at the bound is held.  With the linf norm, in a column, a
class that is tied to others is held by its pairs.  So the norm adds a stiffness for every
coefficient, and no common basis makes both the spread W of the rows and this stiffness a
diagonal.  W is taken as its first principal axes and the diagonal of the rest, in the
solver's own columns: for each class again a diagonal plus low rank (``preconditioner``).
"""
