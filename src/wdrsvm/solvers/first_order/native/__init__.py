"""Sources of the first-order kernels, and what Python may call; see ``runtime.native``."""

from .l1 import settle_price as settle_price
from .l2 import adapt_pairs_often as adapt_pairs_often
from .l2 import class_metric as class_metric
from .l2 import pair_distances as pair_distances
from .l2_half_pairs import push_pairs as push_pairs
from .l2_places import begin_places as begin_places
from .l2_places import contested_classes as contested_classes
from .l2_places import end_places as end_places
from .l2_places import sweep_places as sweep_places
from .l2_singles import PlaceWork as PlaceWork
from .l2_sweeps import sweep_pairs as sweep_pairs
from .linf import step_pairs as step_pairs
from .polar import flow_length as flow_length
from .polar import laplacian as laplacian
from .products import column_squares as column_squares
from .products import row_squares as row_squares
from .records import Price as Price
from .records import Samples as Samples
from .records import StoredRows as StoredRows
from .smooth_loss_ascent import settle_row as settle_row
from .tables import newton_price as newton_price
from .tables import sweep_table as sweep_table
