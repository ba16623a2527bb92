"""The model card: what the page of a model says, in Markdown, for a repository or a hub.

The headings are those that skops gives its cards.
"""

from __future__ import annotations

import json
from typing import Any

from ..markdown import joined, plain
from ..page import Bullets, Facts, Part, Table, Text
from .facts import about_loss, checks_of, confusions, fit_facts, lead_of
from .promise import BUDGET
from .rates import rate_tables
from .reported import ReportedModel, reported_model
from .verdict import summary_of

LONGEST_VALUE = 60
FILE = "model.wdrsvm"
CITATION = """```bibtex
@article{ibrahim2024wasserstein,
  title={Wasserstein Distributionally Robust Multiclass Support Vector Machine},
  author={Ibrahim, Michael and Rozas, Heraldo and Gebraeel, Nagi},
  journal={arXiv preprint arXiv:2409.08409},
  year={2024}
}
```"""


def model_card(
    model: Any,
    X: Any,
    y: Any,
    *,
    title: str = "A robust model",
    radius: float = BUDGET,
    file: str = FILE,
    intended_use: str | None = None,
) -> str:
    """A model card in Markdown about a fitted classifier of this library.

    Parameters
    ----------
    model : estimator
        The classifier, or a pipeline that ends in it.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Features in the form that the model takes, best of rows it has not seen.
    y : array-like of shape (n_samples,)
        Labels, each one of ``model.classes_``.
    title : str, default="A robust model"
        Title of the card.
    radius : float, default=0.1
        How far rows move on average in the card's promises.
    file : str, default="model.wdrsvm"
        Name of the model file, for the instructions.
    intended_use : str, default=None
        What the model is for, as plain text; None says what the library knows.

    Returns
    -------
    str
        The card, with a header for hubs and the sections of skops: model description,
        intended uses and limitations, training procedure, evaluation results, how to get
        started, citation.

    See Also
    --------
    model_page : The same and more as an HTML page, with figures.
    wdrsvm.save_model : Writes the model file.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from wdrsvm import RobustLinearSVC
    >>> from wdrsvm.report import model_card
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), RobustLinearSVC()).fit(X, y)
    >>> card = model_card(model, X, y, title="Iris")
    >>> [line for line in card.splitlines() if line.startswith("## ")][:2]
    ['## Model description', '## Intended uses & limitations']
    """
    return card_of(reported_model(model, X, y, None, radius), title, file, intended_use)


def card_of(
    reported: ReportedModel, title: str, file: str = FILE, intended_use: str | None = None
) -> str:
    """The card of a model that has been judged already."""
    blocks = [
        _metadata(file),
        f"# {plain(title)}",
        plain(lead_of(reported)),
        "## Model description",
        joined(_description(reported)),
        "## Intended uses & limitations",
        plain(intended_use or _use(reported)),
        "### Limitations",
        joined(_limitations(reported)),
        "## Training procedure",
        joined(_training(reported)),
        "### Hyperparameters",
        joined([_parameters(reported.chosen)]),
        "## Evaluation results",
        joined([*rate_tables(reported.promise), *confusions(reported)]),
        "## How to get started with the model",
        _start(file),
        "## Citation",
        CITATION,
    ]
    return "\n\n".join(blocks) + "\n"


def _metadata(file: str) -> str:
    """The header that hubs read."""
    return (
        "---\nlibrary_name: wdrsvm\ntags:\n- tabular-classification\n- wdrsvm\n"
        f"model_file: {json.dumps(file)}\n---"
    )


def _description(reported: ReportedModel) -> list[Part]:
    kind = type(reported.chosen).__name__
    return [
        Text(
            f"{kind} is a classifier with the least worst-case risk: an adversary may move "
            "rows and change labels within a budget, and the classifier is chosen for the "
            "worst that can happen."
        ),
        summary_of(reported.promise),
    ]


def _use(reported: ReportedModel) -> str:
    classes = ", ".join(map(str, reported.classes))
    columns = getattr(reported.model, "feature_names_in_", None)
    of = "" if columns is None else f" with the columns {', '.join(map(str, columns))}"
    return f"Classify rows{of} as one of {classes}."


def _limitations(reported: ReportedModel) -> list[Part]:
    promise = reported.promise
    said = Bullets(
        [
            f"All rates are those of {promise.rows}; other rows may have other rates.",
            promise.movement.meaning(),
            "A larger movement, or another kind of change, is not covered by the promise.",
        ]
    )
    return [said, *checks_of(reported)]


def _training(reported: ReportedModel) -> list[Part]:
    steps = [type(step).__name__ for _, step in getattr(reported.model, "steps", [])]
    facts = {"steps": ", then ".join(steps)} if steps else {}
    return [Facts({**facts, **fit_facts(reported)}), Text(about_loss(reported))]


def _parameters(chosen: Any) -> Table:
    rows = [[name, _short(value)] for name, value in sorted(chosen.get_params().items())]
    return Table("Parameters of the classifier", ["parameter", "value"], rows)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def _start(file: str) -> str:
    return f"""```python
from wdrsvm import load_model

model = load_model({json.dumps(file)})
labels = model.predict(X)  # X: rows in the form of the training rows
```

Without Python, from the command line:

```console
wdrsvm predict {file} new.csv --out predictions.csv
```"""
