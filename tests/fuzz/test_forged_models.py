"""Model files that would run code, read files or crash the reader are refused."""

import io
import json
import pickle

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("skops.io")
pytest.importorskip("pandas")

from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from wdrsvm import RobustLinearSVC, RobustSVC, load_model, model_files, save_model

from .mutations import Payload, members, zipped
from .watch import watched

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
y = np.array([0, 1, 0, 1])


@pytest.fixture
def proof(tmp_path):
    return tmp_path / "proof"


@pytest.fixture
def parts(tmp_path):
    path = save_model(RobustLinearSVC().fit(X, y), tmp_path / "model")
    return members(path.read_bytes())


def node(module, name, loader, **more):
    return {"__module__": module, "__class__": name, "__loader__": loader, **more}


def plain(value):
    return node("builtins", "str", "JsonNode", content=json.dumps(value), is_json=True)


def listed(*values):
    return node("builtins", "list", "ListNode", content=[plain(value) for value in values])


def resealed(parts):
    parts = {name: part for name, part in parts.items() if name != model_files.ABOUT}
    return model_files._with_about(zipped(parts))


def with_radius(parts, value):
    """The model whose radius is another node."""
    schema = json.loads(parts[model_files.SCHEMA])
    schema["content"]["content"]["radius"] = value
    return resealed(parts | {model_files.SCHEMA: json.dumps(schema).encode()})


def forged(command):
    """Nodes that would run a command of the shell, each in its own way."""
    target = node("os", "system", "FunctionNode")
    state = node("builtins", "dict", "DictNode", content={}, key_types=listed())
    parts = {
        "func": target,
        "args": listed(command),
        "kwds": state,
        "namespace": plain(None),
    }
    estimator = node("sklearn.pipeline", "Pipeline", "ObjectNode", content=state)
    return {
        "function": target,
        "partial": node("functools", "partial", "PartialNode", content=parts),
        "constructor": node(
            "os", "system", "ConstructorFromReduceNode", content=listed(command)
        ),
        "type": node("os", "system", "TypeNode"),
        "operator": node(
            "operator", "methodcaller", "OperatorFuncNode", attrs=listed("system", command)
        ),
        "call": node("operator", "call", "OperatorFuncNode", attrs=listed(command)),
        "method": node(
            "sklearn.pipeline",
            "Pipeline",
            "MethodNode",
            content={"func": "__class__", "obj": estimator},
        ),
        "keys": node(
            "builtins",
            "dict",
            "DictNode",
            content={command: plain(0)},
            key_types=node("builtins", "list", "ListNode", content=[target]),
        ),
        "generator": node(
            "numpy.random._generator",
            "Generator",
            "RandomGeneratorNode",
            content={"bit_generator": state, "seed_seq": state},
        ),
        "tree": node("sklearn.tree._tree", "Tree", "TreeNode"),
        "object": node("subprocess", "Popen", "ObjectNode", content=state),
    }


@pytest.mark.parametrize("way", forged(""))
def test_nothing_that_a_file_names_is_called(parts, proof, tmp_path, way):
    content = with_radius(parts, forged(f"touch {proof}")[way])
    path = tmp_path / "forged"
    path.write_bytes(content)
    with watched() as watch, pytest.raises(ValueError, match=r"damaged|not trusted"):
        load_model(path)
    assert watch.deeds == []
    assert not proof.exists()


class TestPickles:
    def test_the_pickle_would_have_run(self, proof):
        pickle.loads(pickle.dumps(Payload(proof)))
        assert proof.read_text() == "executed"

    def test_a_pickle_is_no_model_file(self, proof, tmp_path):
        path = tmp_path / "forged"
        path.write_bytes(pickle.dumps(Payload(proof)))
        with pytest.raises(ValueError, match="not a model file"):
            load_model(path)
        assert not proof.exists()

    def test_a_pickle_inside_is_not_read(self, parts, proof, tmp_path):
        array = io.BytesIO()
        np.save(array, np.array([Payload(proof)], dtype=object), allow_pickle=True)
        for name in parts:
            if name.endswith(".npy"):
                parts[name] = array.getvalue()
        path = tmp_path / "forged"
        path.write_bytes(resealed(parts))
        with pytest.raises(ValueError, match="damaged"):
            load_model(path)
        assert not proof.exists()


def test_names_of_members_are_no_paths(parts, tmp_path):
    outside = tmp_path / "outside"
    path = tmp_path / "folder" / "forged"
    path.parent.mkdir()
    path.write_bytes(resealed(parts | {"../outside": b"x", str(outside): b"x"}))
    with watched() as watch:
        load_model(path)
    assert watch.deeds == []
    assert not outside.exists()


def test_indices_of_sparse_rows_are_checked(tmp_path):
    """Compiled products read wherever an index points."""
    model = RobustSVC().fit(sparse.csr_array(X), y)
    path = save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(path).predict(X), model.predict(X))
    parts = members(path.read_bytes())
    name = next(name for name in parts if name.endswith(".npz"))
    arrays = dict(np.load(io.BytesIO(parts[name])))
    arrays["indices"] = arrays["indices"] + 10**6
    file = io.BytesIO()
    np.savez(file, **arrays)
    path.write_bytes(resealed(parts | {name: file.getvalue()}))
    with pytest.raises(ValueError, match="damaged"):
        load_model(path)


def test_trees_whose_compiled_code_believes_the_file_are_not_saved(tmp_path):
    model = make_pipeline(DecisionTreeClassifier()).fit(X, y)
    with pytest.raises(ValueError, match=r"known types only.*DecisionTree"):
        save_model(model, tmp_path / "model")


def test_texts_of_a_model_are_checked(tmp_path):
    path = save_model(RobustLinearSVC().fit(X, np.array(["a", "b"])[y]), tmp_path / "model")
    parts = members(path.read_bytes())
    for name in parts:
        if name.endswith(".npy") and np.load(io.BytesIO(parts[name])).dtype.kind == "U":
            parts[name] = parts[name][:-4] + (0x110000).to_bytes(4, "little")
    path.write_bytes(resealed(parts))
    with pytest.raises(ValueError, match=r"damaged.*not Unicode"):
        load_model(path)
