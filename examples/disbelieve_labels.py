"""Labels wrong at random: fit all the same, and see which ones the fit disbelieves.

A quarter of the labels of three clusters is wrong.  With ``label_noise="random"`` the fit
may disbelieve a label at the price ``label_cost``: the picture shows the points in the
colours of their given labels, the boundaries of the classifier that believes all labels
(dashed) and of the one that may not (solid), and a ring around each disbelieved label.
"""

import sys

import numpy as np
from sklearn.datasets import make_blobs

from wdrsvm import RobustLogisticRegression

COLOURS = np.array(["#0072b2", "#d55e00", "#009e73"])
CENTRES = [(-2.0, -1.0), (2.0, -1.2), (0.0, 2.0)]


def with_wrong_labels(truth, share, rng):
    """Labels of which a share has been changed at random."""
    labels = truth.copy()
    wrong = rng.choice(len(truth), round(share * len(truth)), replace=False)
    labels[wrong] = (truth[wrong] + rng.integers(1, 3, len(wrong))) % 3
    return labels


def draw_boundary(axes, model, style):
    """Lines along which two classes share the largest score."""
    x, y = np.meshgrid(np.linspace(-6, 6, 400), np.linspace(-5, 5, 400))
    scores = model.decision_function(np.column_stack([x.ravel(), y.ravel()]))
    scores = scores.reshape(*x.shape, 3)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        others_win = scores.argmin(axis=2) != 3 - i - j
        lead = np.ma.masked_where(others_win, scores[..., i] - scores[..., j])
        axes.contour(x, y, lead, [0.0], colors="black", linestyles=style)


def picture(X, labels, believing, doubting, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
    axes.scatter(*X.T, c=COLOURS[labels], s=18, linewidths=0)
    disbelieved = X[doubting.label_belief_ < 1]
    axes.scatter(
        *disbelieved.T, s=90, facecolors="none", edgecolors="black", linewidths=0.9
    )
    draw_boundary(axes, believing, "dashed")
    draw_boundary(axes, doubting, "solid")
    axes.set(xlim=(-6, 6), ylim=(-5, 5), xticks=[], yticks=[])
    axes.set_title(
        "colour: given label; ring: disbelieved\nsolid: fit with doubt; dashed: without"
    )
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(path=None, n_samples=90, share=0.25, seed=0):
    X, truth = make_blobs(n_samples, centers=CENTRES, cluster_std=1.0, random_state=seed)
    labels = with_wrong_labels(truth, share, np.random.default_rng(seed))
    believing = RobustLogisticRegression(0.05).fit(X, labels)
    doubting = RobustLogisticRegression(0.05, 0.9, label_noise="random").fit(X, labels)
    disbelieved, wrong = doubting.label_belief_ < 1, labels != truth
    print(
        f"{wrong.sum()} of {n_samples} labels are wrong; {disbelieved.sum()} are "
        f"disbelieved, {(disbelieved & wrong).sum()} of them rightly."
    )
    for name, model in (("believing", believing), ("doubting", doubting)):
        print(f"{name}: {model.score(X, truth):.1%} of the true labels")
    if path is not None:
        picture(X, labels, believing, doubting, path)
    return believing.score(X, truth), doubting.score(X, truth), disbelieved, wrong


if __name__ == "__main__":
    main(*sys.argv[1:2])
