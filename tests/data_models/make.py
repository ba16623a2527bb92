"""Writes the model files of this folder, once for each version that must stay readable.

Files of a version are never written anew: they are what users have.  Each
version has one archive, as ``0.1.0.zip``, and the scores that its models gave,
``0.1.0.npz``.  Run ``python tests/data_models/make.py`` before a release and commit what is
new.
"""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wdrsvm

FOLDER = Path(__file__).parent
X, CODES = load_iris(return_X_y=True)
X, CODES = X[::10], CODES[::10]
X = X - X.mean(axis=0)
Y = np.array(["setosa", "versicolor", "virginica"])[CODES]
COSTS = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, np.inf], [2.0, 0.5, 0.0]])


def models():
    """Every classifier, with what changes the parts that it keeps."""
    linear = wdrsvm.RobustLinearSVC
    stream = linear(random_state=0)
    for _ in range(2):
        stream.partial_fit(X, Y, classes=np.unique(Y))
    grid = {"radii": [0.1, 0.01], "label_costs": [2.0, COSTS], "cv": 2}
    short = {"radii": [0.01], "label_costs": [2.0], "cv": 2}
    one_vs_rest = wdrsvm.RobustOneVsRestSVC
    return {
        "linear": linear(feature_cost=[1, 2, np.inf, 1], norm="l1").fit(X, Y),
        "linear_matrix": linear(label_cost=COSTS).fit(X, Y),
        "linear_two": linear(support=(-5.0, 5.0)).fit(X, Y == "setosa"),
        "linear_random_noise": linear(label_noise="random", disbelief="repair").fit(X, Y),
        "stream": stream,
        "logistic": wdrsvm.RobustLogisticRegression().fit(X, Y),
        "one_vs_rest": one_vs_rest().fit(X, CODES),
        "one_vs_rest_kernel": one_vs_rest(kernel="rbf").fit(X, CODES),
        "kernel": wdrsvm.RobustSVC(label_noise="random").fit(X, Y),
        "kernel_nystroem": wdrsvm.RobustSVC(
            kernel="poly", n_components=5, random_state=0
        ).fit(X, Y),
        "kernel_precomputed": wdrsvm.RobustSVC(kernel="precomputed").fit(X @ X.T, Y),
        "linear_search": wdrsvm.RobustLinearSVCCV(scoring="f1_macro", **grid).fit(X, Y),
        "logistic_search": wdrsvm.RobustLogisticRegressionCV(
            scoring="neg_log_loss", **short
        ).fit(X, Y),
        "kernel_search": wdrsvm.RobustSVCCV(**short).fit(X, Y),
        "pipeline": make_pipeline(SimpleImputer(), StandardScaler(), linear()).fit(X, Y),
    }


def rows_for(name):
    """What a model is asked about."""
    return X @ X.T if "precomputed" in name else X


def write(models, path):
    """An archive of the models' files."""
    with (
        tempfile.TemporaryDirectory() as folder,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, model in models.items():
            file = wdrsvm.save_model(model, Path(folder) / name)
            archive.write(file, f"{name}.wdrsvm")


def main():
    path = FOLDER / f"{wdrsvm.__version__}.zip"
    if path.exists():
        raise SystemExit(f"{path} is there already.")
    made = models()
    write(made, path)
    scores = {name: model.decision_function(rows_for(name)) for name, model in made.items()}
    np.savez(path.with_suffix(".npz"), **scores)


if __name__ == "__main__":
    main()
