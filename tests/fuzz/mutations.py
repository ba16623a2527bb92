"""Files with something wrong in them, from files that are right and a random generator.

Half of the changes know what the file is: cells, columns, arrays, members, parts of a
schema.  The others change bytes.
"""

import io
import json
import pickle
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas

from wdrsvm import model_files

N_ROWS = 24
TARGET = "kind"
HUGE = "9" * 30
TOKENS = [
    *(b"", b"nan", b"inf", b"-inf", b"-1", b"0", b"1e400", b"1e-320", b"NULL", b"True"),
    *(b'"', b"'", b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\0", b" ", b"#", b":", b"="),
    *(b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b"\xed\xa0\x80", "\u202e".encode()),
    *(b"../../x", b"/etc/passwd", b"=cmd|' /C calc'!A0", b"\x1b[2J", b"<script>", b"%s%n"),
    *(HUGE.encode(), b"-" + HUGE.encode(), b"x" * 5000, b"[" * 5000, b'{"a":' * 500),
]
VALUES = [
    *(None, np.nan, np.inf, -np.inf, 0, -1, 1e308, -1e308, 1e-320, 2**62, HUGE, True),
    *("", " ", "nan", "1,5", "a\nb", "\x1b[31m", "\0", "x" * 5000, "2024-01-01"),
    *(b"bytes", [1, 2], {"a": 1}, 1 + 2j, pandas.Timestamp(0), pandas.Timedelta(1)),
]


class Payload:
    """Runs code when it is unpickled."""

    def __init__(self, proof):
        self.proof = proof

    def __reduce__(self):
        return Path.write_text, (Path(self.proof), "executed")


def flowers(rng, n_rows=N_ROWS):
    """A small table: two numbers, a text, gaps, three classes."""
    codes = np.arange(n_rows) % 3
    length, width = rng.normal(size=(2, n_rows)) + 3 * np.array([codes, codes == 1])
    frame = pandas.DataFrame({"length": length, "width": width})
    frame["colour"] = np.where(rng.random(n_rows) < 0.5, "red", "blue").astype(object)
    frame[TARGET] = np.array(["ash", "elm", "oak"])[codes]
    frame.loc[3, "length"] = np.nan
    return frame


def pick(rng, values):
    return values[rng.integers(len(values))]


def changed_bytes(content, rng):
    """A few bytes flipped, cut, doubled, moved or replaced by a token."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        place = int(rng.integers(len(content) + 1))
        end = min(len(content), place + int(rng.geometric(0.05)))
        kind = rng.integers(6)
        if kind == 0 and place < len(content):
            content[place] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            content[place:end] = b""
        elif kind == 2:
            content[place:place] = content[place:end] * int(rng.integers(1, 4))
        elif kind == 3:
            content[place:place] = pick(rng, TOKENS)
        elif kind == 4:
            content[place:end] = rng.bytes(end - place)
        elif rng.random() < 0.3:
            del content[place:]
    return bytes(content)


# Changes of a table.


def changed_frame(frame, rng):
    frame = frame.copy()
    for _ in range(rng.integers(1, 4)):
        frame = pick(rng, FRAME_CHANGES)(frame, rng)
        if not frame.shape[1]:
            break
    return frame


def _change_cells(frame, rng):
    if not len(frame):
        return frame
    column = int(rng.integers(frame.shape[1]))
    cells = frame.iloc[:, column].astype(object).tolist()
    for row in rng.integers(0, len(frame), rng.integers(1, 4)):
        cells[row] = pick(rng, VALUES)
    return _with_column(frame, column, cells)


def _fill_column(frame, rng):
    value = pick(rng, VALUES)
    return _with_column(frame, int(rng.integers(frame.shape[1])), [value] * len(frame))


def _cast_column(frame, rng):
    column = int(rng.integers(frame.shape[1]))
    cells = frame.iloc[:, column]
    kinds = ["category", "string", "Int64", "boolean", "complex", "datetime64[ns]", "f4"]
    try:
        # pandas finds out by casting whether numbers are whole and real.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _with_column(frame, column, cells.astype(pick(rng, kinds)))
    except (TypeError, ValueError, OverflowError):
        return frame


def _rename_column(frame, rng):
    names = list(frame.columns)
    new = ["", TARGET, "length", "a\nb", "\x1b[2J", 0, None, "x" * 3000, "prediction"]
    names[rng.integers(len(names))] = pick(rng, new)
    return frame.set_axis(names, axis=1)


def _drop_column(frame, rng):
    return frame.iloc[:, np.arange(frame.shape[1]) != rng.integers(frame.shape[1])]


def _add_columns(frame, rng):
    noise = rng.normal(size=(len(frame), int(rng.integers(1, 40))))
    return pandas.concat([frame.reset_index(drop=True), pandas.DataFrame(noise)], axis=1)


def _take_rows(frame, rng):
    count = int(pick(rng, [0, 1, 2, 3, len(frame), 2 * len(frame)]))
    rows = rng.integers(0, len(frame), count) if len(frame) else []
    return frame.iloc[rows].reset_index(drop=True)


def _scale_numbers(frame, rng):
    factor = pick(rng, [0.0, 1e-300, 1e-12, 1e12, 1e150, 1e300])
    with np.errstate(over="ignore"):
        return frame.apply(
            lambda cells: cells * factor if cells.dtype.kind == "f" else cells
        )


def _with_column(frame, column, cells):
    parts = [frame.iloc[:, each] for each in range(frame.shape[1])]
    parts[column] = pandas.Series(cells, index=frame.index, name=frame.columns[column])
    return pandas.concat(parts, axis=1)


FRAME_CHANGES = [
    *(_change_cells, _fill_column, _cast_column, _rename_column),
    *(_drop_column, _add_columns, _take_rows, _scale_numbers),
]


def _csv(frame, rng, separator=","):
    text = frame.to_csv(index=False, sep=separator, errors="replace")
    return text.encode(
        pick(rng, ["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]), "replace"
    )


def _tsv(frame, rng):
    return _csv(frame, rng, "\t")


def _parquet(frame, rng):
    file = io.BytesIO()
    frame.to_parquet(file, index=False, compression=pick(rng, ["snappy", "none", "zstd"]))
    return file.getvalue()


def _npz(frame, rng, proof):
    """Arrays by name; some are pickled, which must never be loaded."""
    arrays = {
        str(name): frame.iloc[:, k].to_numpy() for k, name in enumerate(frame.columns)
    }
    arrays = {
        name: cells if cells.dtype != object or rng.random() < 0.1 else cells.astype(str)
        for name, cells in arrays.items()
    }
    if rng.random() < 0.3:
        arrays[pick(rng, ["X", "../up", "/abs", TARGET, ""])] = _odd_array(rng, proof)
    file = io.BytesIO()
    pick(rng, [np.savez, np.savez_compressed])(file, **arrays)
    return file.getvalue()


def _odd_array(rng, proof):
    return pick(
        rng,
        [
            np.array([Payload(proof)] * N_ROWS, dtype=object),
            np.array(1.0),
            np.ones((2, 2, 2)),
            np.ones((N_ROWS, 3)),
            np.zeros(0),
            np.zeros(N_ROWS, dtype=[("a", float), ("b", int)]),
            np.zeros(N_ROWS, dtype="M8[s]"),
            np.zeros(N_ROWS, dtype=complex),
            np.zeros(N_ROWS, dtype="V7"),
            np.zeros((10_000_000,), dtype=np.int8),
        ],
    )


def _svmlight(frame, rng):
    lines = []
    for code, row in enumerate(frame.itertuples(index=False)):
        cells = [f"{d}:{v}" for d, v in enumerate(row, 1) if isinstance(v, float)]
        if rng.random() < 0.2:
            odd = ["0:1", "-1:2", f"{HUGE}:1", "4000000000:1", "2147483647:1", "1:nan"]
            cells.append(
                pick(rng, [*odd, "1:inf", "qid:3", "x", "1:", ":1", "1:2:3", "#", "9:1"])
            )
        label = (
            pick(rng, ["1.5", "nan", "a", "1,2", "", HUGE])
            if rng.random() < 0.02
            else code % 3
        )
        lines.append(f"{label} {' '.join(cells)}")
    return "\n".join(lines).encode()


def tables(rng, ending, proof):
    """A table in the format of this ending, with something wrong in it."""
    frame = flowers(rng)
    if rng.random() < 0.7:
        frame = changed_frame(frame, rng)
    writers = {
        ".csv": _csv,
        ".tsv": _tsv,
        ".parquet": _parquet,
        ".svmlight": _svmlight,
        ".npz": lambda *given: _npz(*given, proof),
    }
    try:
        content = writers[ending](frame, rng)
    except Exception:
        # There are tables that cannot be written in this format.
        content = writers[ending](flowers(rng), rng)
    if ending == ".npz" and rng.random() < 0.2:
        return changed_archive(content, rng, proof)
    return changed_bytes(content, rng) if rng.random() < 0.5 else content


# Changes of archives and of models.


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return file.getvalue()


def changed_archive(content, rng, proof):
    """Members changed, swollen, renamed, pickled or gone."""
    parts = members(content)
    name = pick(rng, list(parts))
    kind = rng.integers(6)
    if kind == 0:
        parts[name] = changed_bytes(parts[name], rng)
    elif kind == 1:
        parts[name] = pickle.dumps(Payload(proof))
    elif kind == 2:
        parts[pick(rng, ["../../outside", "/outside", "..\\outside", "\n"])] = parts.pop(
            name
        )
    elif kind == 3:
        del parts[name]
    elif kind == 4:
        parts[name] = parts[name] + bytes(10**7)
    else:
        parts["more"] = changed_bytes(parts[name], rng)
    return zipped(
        parts, pick(rng, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
    )


LOADERS = [
    *("MethodNode", "PartialNode", "OperatorFuncNode", "ConstructorFromReduceNode"),
    *("FunctionNode", "TypeNode", "ObjectNode", "JsonNode", "DictNode", "TreeNode", "Node"),
]
NAMES = [
    *(
        ("os", "system"),
        ("builtins", "eval"),
        ("builtins", "exec"),
        ("subprocess", "Popen"),
    ),
    *(("pathlib", "Path"), ("shutil", "rmtree"), ("numpy", "load"), ("pickle", "loads")),
    *(("sklearn.svm._classes", "SVC"), ("sklearn.tree._classes", "DecisionTreeClassifier")),
    *(
        ("numpy", "add"),
        ("builtins", "dict"),
        ("builtins", "str"),
        ("wdrsvm", "load_model"),
    ),
]
JSON_VALUES = [
    *(None, True, -1, 1e308, HUGE, "", "l1", "../../x", [], {}, [[]], {"__loader__": "x"}),
    *("null", "[1]", "NaN", "Infinity", "{}", "numpy", "json"),
]


def models(rng, content, proof):
    """A model file that was changed, and often made to look as if it had not been."""
    kind = rng.random()
    if kind < 0.2:
        return changed_bytes(content, rng)
    if kind < 0.35:
        return changed_archive(content, rng, proof)
    parts = members(content)
    del parts[model_files.ABOUT]
    if kind < 0.5:
        name = pick(rng, list(parts))
        parts[name] = _changed_member(parts[name], rng, proof)
    else:
        schema = json.loads(parts[model_files.SCHEMA])
        for _ in range(rng.integers(1, 4)):
            _change_schema(schema, rng, list(parts))
        parts[model_files.SCHEMA] = json.dumps(schema).encode()
    try:
        return model_files._with_about(zipped(parts))
    except ValueError:
        return zipped(parts)


def _changed_member(content, rng, proof):
    array = io.BytesIO()
    odd = _odd_array(rng, proof)
    np.save(array, odd, allow_pickle=True)
    return pick(
        rng, [changed_bytes(content, rng), pickle.dumps(Payload(proof)), array.getvalue()]
    )


def _change_schema(schema, rng, files):
    nodes = [node for node in _dicts(schema) if node]
    node = pick(rng, nodes)
    kind = rng.integers(4)
    if kind == 0 and "__class__" in node:
        node["__module__"], node["__class__"] = pick(rng, NAMES)
    elif kind == 1 and "__loader__" in node:
        node["__loader__"] = pick(rng, LOADERS)
    elif kind == 2:
        other = pick(rng, nodes)
        node[pick(rng, list(node))] = json.loads(json.dumps(other))
    else:
        key = pick(rng, list(node))
        node[key] = pick(rng, files) if key == "file" else pick(rng, JSON_VALUES)


def _dicts(part):
    if isinstance(part, dict):
        yield part
        for each in part.values():
            yield from _dicts(each)
    elif isinstance(part, list):
        for each in part:
            yield from _dicts(each)
