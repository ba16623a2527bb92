"""Models as ONNX graphs, for programs without Python.

The graphs compute in double precision, as the models do.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from .estimators import (
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustLogisticRegressionCV,
    RobustSVC,
    RobustSVCCV,
)
from .estimators.tables.category_values import CategoryValues
from .inputs.arrays import is_missing

LINEAR = (RobustLinearSVC, RobustLinearSVCCV)
KERNEL = (RobustSVC, RobustSVCCV)
ALL = (*LINEAR, RobustLogisticRegression, RobustLogisticRegressionCV, *KERNEL)
OPSET = 19
INPUT, LABEL, SCORES, PROBABILITIES = "X", "label", "scores", "probabilities"


def to_onnx(model: Any) -> Any:
    """A fitted classifier, or a pipeline that ends in one, as an ONNX model.

    The graph has an input ``X``, doubles of shape (n_samples, n_features), and the outputs
    ``label``, ``scores`` (the decision function) and for a logistic model
    ``probabilities``.  A pipeline that chooses its columns by their names, as ``wdrsvm
    fit`` saves, has one input per column instead, of shape (n_samples, 1).  The inputs are
    doubles or texts.  A missing number is NaN, and a missing text is the empty text.  A
    flag among the categories of :func:`wdrsvm.mixed_table` is the text True or False.

    Parameters
    ----------
    model : estimator
        A :class:`RobustLinearSVC`, :class:`RobustLogisticRegression`, :class:`RobustSVC`
        with the kernel "rbf" or "linear", a cross-validated search for one of these, or a
        pipeline that ends in one of these.  skl2onnx must know all transformers of the
        pipeline.  Rows must be dense.

    Returns
    -------
    onnx.ModelProto
        The model; ``SerializeToString()`` gives the bytes of a file.

    See Also
    --------
    save_model : Files for this library.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import RobustLinearSVC, to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> graph = to_onnx(RobustLinearSVC().fit(X, y)).graph
    >>> [output.name for output in graph.output]
    ['label', 'scores']
    """
    skl2onnx = _imported("skl2onnx")
    types = _imported("skl2onnx.common.data_types")
    model = _thawed(model)
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    _check_known(steps[-1])
    texts = _named_columns(steps[0])
    inputs = [(INPUT, types.DoubleTensorType([None, model.n_features_in_]))]
    if texts is not None:
        kinds = {True: types.StringTensorType, False: types.DoubleTensorType}
        inputs = [(name, kinds[is_text]([None, 1])) for name, is_text in texts.items()]
    exported = skl2onnx.convert_sklearn(
        model,
        initial_types=inputs,
        target_opset={"": OPSET, "ai.onnx.ml": 3},
        custom_conversion_functions={
            SimpleImputer: _convert_imputer,
            CategoryValues: _convert_values,
            OneHotEncoder: _convert_encoder,
            **dict.fromkeys(ALL, _convert),
        },
        custom_shape_calculators={
            CategoryValues: _same_shape,
            OneHotEncoder: _encoder_shape,
            **dict.fromkeys(ALL, _nothing_to_infer),
        },
        custom_parsers=dict.fromkeys(ALL, _outputs),
    )
    _name_inputs(exported.graph, [name for name, _ in inputs])
    return exported


def _thawed(model: Any) -> Any:
    """The same pipeline with the transformers inside frozen ones, which skl2onnx needs."""
    if not isinstance(model, Pipeline):
        return model
    steps = [
        (name, step.estimator if isinstance(step, FrozenEstimator) else step)
        for name, step in model.steps
    ]
    return Pipeline(steps)


def _name_inputs(graph: Any, names: list[str]) -> None:
    """Rename the inputs to the columns, because skl2onnx changes some names."""
    made = {each.name: name for each, name in zip(graph.input, names, strict=True)}
    for each in graph.input:
        each.name = made[each.name]
    for node in graph.node:
        for k, name in enumerate(node.input):
            node.input[k] = made.get(name, name)


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(
            'to_onnx needs onnx and skl2onnx: pip install "wdrsvm[onnx]" brings them.'
        ) from None


def _check_known(classifier: Any) -> None:
    if type(classifier) not in ALL:
        names = ", ".join(kind.__name__ for kind in ALL)
        raise TypeError(
            f"model must be or end in one of {names}, got {type(classifier).__name__}."
        )
    if type(classifier) in KERNEL and classifier.kernel not in ("rbf", "linear"):
        raise ValueError(
            f"model must have the kernel 'rbf' or 'linear', got {classifier.kernel!r}."
        )


def _named_columns(step: Any) -> dict[str, bool] | None:
    """Columns that are chosen by name, and whether they hold texts.

    None if columns are chosen by number.
    """
    if not isinstance(step, ColumnTransformer):
        return None
    chosen: dict[Any, bool] = {}
    for _, transformer, columns in step.transformers_:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        chosen |= dict.fromkeys(np.ravel(columns).tolist(), _takes_texts(transformer))
    by_name = [name for name in chosen if isinstance(name, str)]
    if not by_name:
        return None
    if len(by_name) < len(chosen):
        raise ValueError(
            "model must choose its columns all by name or all by number, got a mixture."
        )
    return {str(name): chosen[name] for name in step.feature_names_in_ if name in chosen}


def _takes_texts(transformer: Any) -> bool:
    """Whether a transformer, or the first step of a pipeline, was fitted on texts."""
    first = transformer
    while hasattr(first, "steps"):
        first = first.steps[0][1]
    if isinstance(first, CategoryValues):
        return True
    if isinstance(first, SimpleImputer):
        return np.asarray(first.statistics_).dtype.kind in "UO"
    if isinstance(first, OneHotEncoder):
        return any(known.dtype.kind in "UO" for known in first.categories_)
    return False


def _outputs(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare the outputs of the graph."""
    types = _imported("skl2onnx.common.data_types")
    operator = scope.declare_local_operator(_alias(model), model)
    operator.inputs += inputs
    n_scores = 1 if len(model.classes_) == 2 else len(model.classes_)
    is_text = model.classes_.dtype.kind in "UO"
    label = types.StringTensorType if is_text else types.Int64TensorType
    shapes = {LABEL: label([None]), SCORES: types.DoubleTensorType([None, n_scores])}
    if hasattr(model, "predict_proba"):
        shapes[PROBABILITIES] = types.DoubleTensorType([None, len(model.classes_)])
    for name, kind in shapes.items():
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _alias(model: Any) -> str:
    return f"wdrsvm{type(model).__name__}"


def _nothing_to_infer(operator: Any) -> None:
    """Do nothing: the shapes are known from the declaration of the outputs."""


class Graph:
    """Adds nodes to a graph, and names the tensors between the nodes."""

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope, self.container = scope, container

    def constant(self, values: Any) -> str:
        """A tensor of doubles, whole numbers or texts."""
        array = np.asarray(values)
        kinds = {"f": 11, "i": 7, "U": 8, "O": 8}
        flat = array.ravel().tolist()
        if array.dtype.kind in "UO":
            flat = [str(text).encode() for text in flat]
        name = self.scope.get_unique_variable_name("constant")
        self.container.add_initializer(name, kinds[array.dtype.kind], array.shape, flat)
        return str(name)

    def node(self, kind: str, *inputs: str, to: str | None = None, **options: Any) -> str:
        """Add a node; returns the name of its output."""
        output = to or self.scope.get_unique_variable_name(kind.lower())
        name = self.scope.get_unique_operator_name(kind)
        if "to_type" in options:
            options["to"] = options.pop("to_type")
        self.container.add_node(
            kind, list(inputs), [output], name=name, op_version=OPSET, **options
        )
        return str(output)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes from the features to labels and scores."""
    model, graph = operator.raw_operator, Graph(scope, container)
    features = operator.inputs[0].full_name
    label, scores, *probabilities = (each.full_name for each in operator.outputs)
    weights = graph.constant(_weights(model).T)
    seen = _kernel_rows(graph, model, features) if type(model) in KERNEL else features
    products = graph.node("MatMul", seen, weights)
    graph.node("Add", products, graph.constant(model.intercept_), to=scores)
    full = _one_a_class(graph, model, scores)
    codes = graph.node("ArgMax", full, axis=1, keepdims=0)
    graph.node("Gather", graph.constant(_labels(model)), codes, to=label, axis=0)
    if probabilities:
        graph.node("Softmax", full, to=probabilities[0], axis=1)


def _convert_imputer(scope: Any, operator: Any, container: Any) -> None:
    """Impute doubles and texts, which the imputer node of ONNX does not accept.

    Texts have no NaN, so a missing text is the empty text.
    """
    graph, imputer = Graph(scope, container), operator.raw_operator
    features, result = operator.inputs[0].full_name, operator.outputs[0].full_name
    if _takes_texts(imputer):
        values = graph.constant(np.asarray(imputer.statistics_, dtype=str))
        lacking = graph.node("Equal", features, graph.constant(np.array([""])))
    else:
        values = graph.constant(np.asarray(imputer.statistics_, dtype=np.float64))
        lacking = graph.node("IsNaN", features)
    graph.node("Where", lacking, values, features, to=result)


def _convert_values(scope: Any, operator: Any, container: Any) -> None:
    """Categories are texts already; a missing one is the empty text."""
    features, result = operator.inputs[0].full_name, operator.outputs[0].full_name
    Graph(scope, container).node("Identity", features, to=result)


def _same_shape(operator: Any) -> None:
    operator.outputs[0].type = operator.inputs[0].type


def _encoder_shape(operator: Any) -> None:
    types = _imported("skl2onnx.common.data_types")
    width = len(operator.raw_operator.get_feature_names_out())
    operator.outputs[0].type = types.DoubleTensorType([None, width])


def _convert_encoder(scope: Any, operator: Any, container: Any) -> None:
    """Make one column of doubles per category; an unseen category has zeros only."""
    graph, encoder = Graph(scope, container), operator.raw_operator
    if encoder.drop_idx_ is not None or encoder._infrequent_enabled:
        raise ValueError("model must one-hot encode all categories to be exported.")
    # skl2onnx joins the columns of other transformers only.
    given = [each.full_name for each in operator.inputs]
    features = graph.node("Concat", *given, axis=1)
    is_text, parts = _takes_texts(encoder), []
    for d, known in enumerate(encoder.categories_):
        column = graph.node("Gather", features, graph.constant([d]), axis=1)
        values = [_as_text(value) for value in known] if is_text else known.astype(float)
        same = graph.node("Equal", column, graph.constant([values]))
        parts.append(graph.node("Cast", same, to_type=11))
    graph.node("Concat", *parts, to=operator.outputs[0].full_name, axis=1)


def _as_text(value: Any) -> str:
    return "" if is_missing(value) else str(value)


def _weights(model: Any) -> Any:
    return model.dual_coef_[:, model.support_] if type(model) in KERNEL else model.coef_


def _labels(model: Any) -> Any:
    classes = model.classes_
    return classes if classes.dtype.kind in "UO" else classes.astype(np.int64)


def _one_a_class(graph: Graph, model: Any, scores: str) -> str:
    """One score per class; for two classes the only score d becomes -d/2 and d/2."""
    if len(model.classes_) > 2:
        return scores
    return graph.node("MatMul", scores, graph.constant([[-0.5, 0.5]]))


def _kernel_rows(graph: Graph, model: Any, features: str) -> str:
    """Kernel values of the rows with the support vectors."""
    support = model.support_vectors_
    support = support.toarray() if hasattr(support, "toarray") else np.asarray(support)
    inner = graph.node("MatMul", features, graph.constant(support.T))
    if model.kernel == "linear":
        return inner
    squares = graph.node("ReduceSumSquare", features, graph.constant([1]), keepdims=1)
    cross = graph.node("Mul", inner, graph.constant(np.float64(-2.0)))
    near = graph.node("Add", cross, graph.constant((support**2).sum(axis=1)))
    distance = graph.node("Add", squares, near)
    return graph.node(
        "Exp", graph.node("Mul", distance, graph.constant(np.float64(-model.gamma_)))
    )
