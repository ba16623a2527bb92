"""A graph for other programs."""

import numpy as np
import pytest

from wdrsvm import load_model

from ..flowers import flowers, run_json


def test_the_graph_scores_as_the_model(model, capsys):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    shown = run_json(capsys, "export", "model", "--out", "model.onnx")
    assert shown["inputs"] == ["length", "width", "colour"]
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    table = flowers()
    table.loc[8, "colour"] = "green"
    given = {name: table[name].to_numpy()[:, None] for name in ("length", "width")}
    given["colour"] = table["colour"].fillna("").to_numpy(dtype=object)[:, None]
    label, scores = session.run(["label", "scores"], given)
    pipeline, X = load_model(model), table[["length", "width", "colour"]]
    np.testing.assert_allclose(scores, pipeline.decision_function(X), atol=1e-5)
    assert label.tolist() == pipeline.predict(X).tolist()
