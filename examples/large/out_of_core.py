"""
Data that do not fit in memory
==============================

Two ways. A NumPy memory map is read block by block, and the fit has its certificate as
ever. Where the rows can be seen only once, ``partial_fit`` learns from chunk after
chunk, without a lower bound.
"""

# %%
# A file of 200 000 rows, written in chunks as a large one would be.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from wdrsvm import RobustLinearSVC, WassersteinBall, worst_case_risk

N_ROWS, N_FEATURES, N_CLASSES, CHUNK = 200_000, 10, 4, 10_000
folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "rows.npy"
rng = np.random.default_rng(0)
centres = rng.normal(size=(N_CLASSES, N_FEATURES))
y = rng.integers(0, N_CLASSES, N_ROWS)
rows = np.lib.format.open_memmap(file, "w+", np.float32, (N_ROWS, N_FEATURES))
for begin in range(0, N_ROWS, CHUNK):
    now = slice(begin, begin + CHUNK)
    rows[now] = centres[y[now]] + rng.normal(size=(CHUNK, N_FEATURES))
rows.flush()

# %%
# The map is given to ``fit`` as it is.

X = np.load(file, mmap_mode="r")
exact = RobustLinearSVC(0.05, 2.0, tol=1e-4).fit(X, y)
print(f"{X.nbytes / 1e6:.0f} MB on disk, solver {exact.solver_!r}")
print(f"certified risk {exact.objective_:.4f}, at least {exact.dual_bound_:.4f} possible")

# %%
# The stream sees every row once. After each chunk its worst-case risk on other rows is
# compared with that of the exact model.

ball, held_out = WassersteinBall(0.05, 2.0), slice(N_ROWS - CHUNK, N_ROWS)
stream, risks = RobustLinearSVC(0.05, 2.0), []
for begin in range(0, N_ROWS - CHUNK, CHUNK):
    chunk = slice(begin, begin + CHUNK)
    stream.partial_fit(X[chunk], y[chunk], classes=np.arange(N_CLASSES))
    risks.append(worst_case_risk(stream, X[held_out], y[held_out], ball))
target = worst_case_risk(exact, X[held_out], y[held_out], ball)
print(f"on rows held out: stream {risks[-1]:.4f}, exact {target:.4f}")

_, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
seen = CHUNK * np.arange(1, len(risks) + 1)
ax.plot(seen, risks, "o-", label="stream")
ax.axhline(target, color="0.4", linestyle="--", label="fit on all rows")
ax.set(xlabel="rows seen, each once", ylabel="worst-case risk on rows held out")
ax.legend(frameon=False)
plt.show()

# %%
# The map is closed before its file goes.

del X, rows
folder.cleanup()
