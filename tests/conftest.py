"""Which tests run where the compiler is off (``NUMBA_DISABLE_JIT=1``), to count lines.

There compiled functions are counted like others, and are a hundred times slower.  Lines are
counted once, however many variants of a test run them: a few variants of each do, evenly
spaced, and tests that take long without the compiler are left to the ordinary run.
"""

import os
from collections import defaultdict

COMPILER_IS_OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
VARIANTS = 6


def pytest_collection_modifyitems(config, items):
    if not COMPILER_IS_OFF:
        return
    variants = defaultdict(list)
    for item in items:
        variants[item.nodeid.partition("[")[0]].append(item)
    chosen = {item for found in variants.values() for item in few(found)}
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


def few(found):
    """At most ``VARIANTS`` of a list, first and last among them."""
    last = len(found) - 1
    places = {round(last * k / (VARIANTS - 1)) for k in range(VARIANTS)}
    return [found[place] for place in sorted(places)] if last >= VARIANTS else found
