"""
Sparse data in many dimensions
==============================

Text makes wide, sparse matrices. ``"first-order"``, which ``"auto"`` takes for them,
never forms a dense system; the certificate is the same as everywhere.
"""

# %%
# Documents as bags of words: every class has some words of its own, which occur three
# times as often in it. Frequencies of words are those of natural languages, tf-idf and
# rows of length one as usual.

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from wdrsvm import RobustLinearSVC
from wdrsvm.plotting import CertifiedRadiusDisplay

N_DOCUMENTS, N_WORDS, N_CLASSES, LENGTH = 2000, 20_000, 8, 120
rng = np.random.default_rng(0)
y = rng.integers(0, N_CLASSES, N_DOCUMENTS)
frequency = np.tile(1 / np.arange(10, N_WORDS + 10), (N_CLASSES, 1))
for code in range(N_CLASSES):
    frequency[code, rng.choice(N_WORDS, 600, replace=False)] *= 3
frequency /= frequency.sum(axis=1, keepdims=True)
words = np.concatenate([rng.choice(N_WORDS, LENGTH, p=frequency[code]) for code in y])
documents = np.repeat(np.arange(N_DOCUMENTS), LENGTH)
counts = sparse.coo_array((np.ones(len(words)), (documents, words))).tocsr()
X = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
print(f"{X_train.shape[0]} rows, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} a document")

# %%
# A gap of 1e-3 is plenty for predictions. liblinear's machine with the same loss, without
# ball and certificate, for comparison.

models = {
    "RobustLinearSVC": RobustLinearSVC(0.02, np.inf, tol=1e-3),
    "LinearSVC": LinearSVC(multi_class="crammer_singer"),
}
for name, model in models.items():
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X_train, y_train)
    seconds = time.perf_counter() - began
    print(f"{name:16s} {seconds:5.2f} s, accuracy {model.score(X_test, y_test):.3f}")
robust = models["RobustLinearSVC"]
print(f"solver {robust.solver_!r}, certified risk {robust.objective_:.3f}")
print(f"relative gap {robust.duality_gap_ / robust.objective_:.0e}")

# %%
# Rows have length one, which gives certified radii a scale: a movement by a few hundredths
# of a document's length overturns nearly any prediction of both models. In many dimensions
# linear classifiers are fragile, and so large a radius would leave nothing to learn.

_, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for name, model in models.items():
    CertifiedRadiusDisplay.from_estimator(model, X_test, y_test, name=name, ax=ax)
plt.show()
