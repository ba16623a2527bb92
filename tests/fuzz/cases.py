"""One malformed input after another, each given to the program that reads it."""

import io
import os
import resource
import shutil
import sqlite3
import sys
import traceback
import warnings
import zipfile
from contextlib import chdir, closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np

from wdrsvm import load_model
from wdrsvm.cli.main import BAD_INPUT, main
from wdrsvm.datasets import _sources, tables
from wdrsvm.experiments import Experiment, collect
from wdrsvm.experiments.running.store import FILE, Outcome, Store

from . import mutations
from .mutations import TARGET, changed_archive, changed_bytes, flowers, pick
from .watch import Hang, files_in, time_limit, watched

SECONDS = 30.0
GIBIBYTE = 2**20  # in the kilobytes of getrusage
ENDINGS = (".csv", ".tsv", ".parquet", ".npz", ".svmlight")
LONGEST_SENTENCE = 3000


@dataclass
class Sandbox:
    """A folder whose part ``out`` may be written to; nothing else may change."""

    folder: Path

    def __post_init__(self):
        for name in ("in", "out", "home"):
            (self.folder / name).mkdir(parents=True)
        self.input, self.out = self.folder / "in", self.folder / "out"
        self.proof = self.folder / "proof"
        valid = self.folder / "valid"
        valid.mkdir()
        rng = np.random.default_rng(0)
        self.table, self.model = valid / "table.csv", valid / "model"
        self.sparse, self.sparse_model = valid / "table.svmlight", valid / "sparse"
        frame = flowers(rng)
        frame.to_csv(self.table, index=False)
        rows = [f"{k % 3} 1:{k % 3}.5 2:{k % 5}" for k in range(mutations.N_ROWS)]
        self.sparse.write_text("\n".join(rows))
        for table, target, model in (
            (self.table, TARGET, self.model),
            (self.sparse, "y", self.sparse_model),
        ):
            with redirect_stdout(io.StringIO()):
                given = ["fit", str(table), "--target", target, "--out", str(model)]
                assert main(given) == 0
        kernel = ["fit", str(self.sparse), "--target", "y", "--kernel", "rbf"]
        with redirect_stdout(io.StringIO()):
            assert main([*kernel, "--out", str(valid / "kernel")]) == 0
        # The first call compiles, and libraries keep what they find out about the
        # machine, such as its fonts.
        page = ["report", str(self.model), str(self.table), "--target", TARGET]
        page_of_table = ["explore", str(self.table), "--target", TARGET, "--radii", "2"]
        graph = ["export", str(self.model), "--out", str(valid / "graph.onnx")]
        with redirect_stdout(io.StringIO()):
            assert main([*page, "--out", str(valid / "page.html")]) == 0
            assert main([*page_of_table, "--out", str(valid / "page.html")]) == 0
            assert main(graph) == 0
        self.models = [
            (self.model.read_bytes(), self.table),
            ((valid / "kernel").read_bytes(), self.sparse),
        ]

    def write(self, name, content):
        path = self.input / name
        path.write_bytes(content)
        return str(path)

    def emptied(self):
        for folder in (self.input, self.out):
            shutil.rmtree(folder)
            folder.mkdir()


# Every family is a function of the sandbox and a generator; it returns the input's call.


def table_case(box, rng):
    ending = pick(rng, ENDINGS)
    is_sparse = ending == ".svmlight"
    table = box.write(f"table{ending}", mutations.tables(rng, ending, box.proof))
    model = str(box.sparse_model if is_sparse else box.model)
    target = ["--target", "y" if is_sparse else TARGET]
    json = ["--json"] if rng.random() < 0.3 else []
    out = ["--out", str(box.out / pick(rng, ["o.csv", "o.parquet", "o.tsv"]))]
    page = ["--out", str(box.out / "page.html")]
    command = rng.choice(6, p=[0.3, 0.35, 0.15, 0.1, 0.05, 0.05])
    arguments = [
        ["fit", table, *target, "--out", str(box.out / "model"), *_fit_options(rng)],
        ["predict", model, table, *(out if rng.random() < 0.5 else [])],
        ["certify", model, table, *target, *(out if rng.random() < 0.5 else [])],
        ["audit", table, *target, *out],
        ["report", model, table, *target, *page],
        ["explore", table, *target, "--radii", "2", *page],
    ][command]
    return lambda: main([*arguments, *json])


def _fit_options(rng):
    options = [
        [],
        ["--norm", "l1"],
        ["--norm", "linf", "--label-cost", "inf"],
        ["--kernel", "rbf"],
        ["--balanced", "--radius", "0"],
        ["--drop", "colour"],
    ]
    return pick(rng, options)


def model_case(box, rng):
    content, table = pick(rng, box.models)
    model = box.write("model", mutations.models(rng, content, box.proof))
    if rng.random() < 0.2:
        return lambda: _refused(lambda: load_model(model))
    table = str(table)
    target = ["--target", "y" if table.endswith("svmlight") else TARGET]
    command = pick(
        rng,
        [
            ["predict", model, table, "--scores"],
            ["certify", model, table, *target],
            ["report", model, table, *target, "--out", str(box.out / "page.html")],
            ["export", model, "--out", str(box.out / "graph.onnx")],
        ],
    )
    return lambda: main(command)


WORDS = [
    *(
        "",
        "-",
        "--",
        "nan",
        "inf",
        "-inf",
        "-1",
        "0",
        "1e-300",
        "1e300",
        mutations.HUGE,
        "x",
    ),
    *(
        "l1",
        "l3",
        "rbf",
        "\x1b[2J",
        "a b",
        "\udcff",
        "/",
        ".",
        "..",
        "/dev/null",
        "[x",
        "y",
    ),
]
OPTIONS = [
    *("--target", "--out", "--radius", "--label-cost", "--norm", "--kernel", "--landmarks"),
    *("--drop", "--test", "--cv", "--balanced", "--json", "--scores", "--all", "--preset"),
    *("--help", "--unknown", "-o", "--jobs", "--repetitions"),
]
COMMANDS = ("fit", "predict", "certify", "audit", "report", "reproduce", "export", "other")


def argument_case(box, rng):
    """Options and paths at random; nothing that would work for minutes."""
    command = pick(rng, COMMANDS)
    # An option may name these as the file to be written.
    table, model = (shutil.copy(each, box.out) for each in (box.table, box.model))
    paths = [table, model, box.folder, box.input / "none.csv", box.out / "o.csv"]
    paths += [box.out / "none" / "o.csv", box.table / "below.csv", box.out / "o.html"]
    arguments = [command]
    if rng.random() < 0.7:
        arguments += {
            "fit": [str(box.table), "--target", TARGET, "--out", str(box.out / "m")],
            "audit": [str(box.table), "--target", TARGET, "--out", str(box.out / "o.csv")],
            "report": [str(box.model), str(box.table), "--target", TARGET],
            "reproduce": ["none"],
            "export": [str(box.model), "--out", str(box.out / "graph.onnx")],
        }.get(command, [str(box.model), str(box.table)])
    for _ in range(rng.integers(0, 4)):
        word = pick(rng, WORDS) if rng.random() < 0.5 else str(pick(rng, paths))
        arguments += [pick(rng, OPTIONS), word] if rng.random() < 0.7 else [word]
    if command == "reproduce":
        arguments = [each for each in arguments if each not in ("all", "--out")]
    return lambda: main(arguments)


TASKS = [{"x": x, "repetition": x} for x in range(4)]
SQUARES = Experiment(
    "squares",
    "Squares",
    1,
    tasks=lambda preset, repetitions: TASKS,
    run=lambda task: [{"square": task["x"] ** 2, "name": "n"}],
    summarise=lambda frame: {},
)


def store_case(box, rng):
    """Stored results; a reader refuses them or makes tables of them."""
    folder = box.out / "squares-quick"
    store = Store(folder, SQUARES.protocol)
    with store.locked():
        for task in TASKS:
            store.add(task, Outcome(SQUARES.run(task), 1.0))
    path = folder / FILE
    if rng.random() < 0.5:
        column = pick(rng, ["key", "outcome", "sum"])
        value = pick(rng, [None, "null", "[]", "x", -1, 1e999, b"\xff", '[[{"a":[]}],1,0]'])
        with closing(sqlite3.connect(path)) as database, database:
            change = f"UPDATE outcomes SET {column} = ? WHERE rowid = ?"
            database.execute(change, (value, int(rng.integers(1, len(TASKS) + 1))))
    else:
        path.write_bytes(changed_bytes(path.read_bytes(), rng))
    return lambda: _refused(lambda: collect(SQUARES, out=box.out))


SEEDS = "\n".join(" \t".join(["1.5"] * 7 + [str(1 + k % 3)]) for k in range(9)).encode()


def cache_case(box, rng):
    """Files of a known data set, damaged in the cache or as the network sent them."""
    if rng.random() < 0.5:
        kept = box.out / "wdrsvm" / tables.SEEDS.file
        kept.parent.mkdir(parents=True)
        kept.write_bytes(changed_bytes(tables._seeds_csv(SEEDS), rng))
    archive = mutations.zipped({tables.SEEDS.member: SEEDS}, zipfile.ZIP_DEFLATED)
    change = pick(rng, [changed_bytes, lambda *given: changed_archive(*given, box.proof)])
    sent = change(archive, rng)
    environment = {_sources.CACHE_VARIABLE: str(box.out), _sources.DATA_VARIABLE: ""}

    def call():
        answer = patch("urllib.request.urlopen", lambda *_, **__: io.BytesIO(sent))
        with answer, patch.dict(os.environ, environment):
            return _refused(lambda: tables.load("seeds"))

    return call


def _refused(read):
    """The exit code that an answer of the library would have been."""
    try:
        read()
    except (ValueError, TypeError, FileNotFoundError) as error:
        print(f"wdrsvm: {error}", file=sys.stderr)
        return BAD_INPUT
    return 0


FAMILIES = {
    "tables": table_case,
    "models": model_case,
    "arguments": argument_case,
    "stores": store_case,
    "caches": cache_case,
}


def complaints(box, family, number, seed=0):
    """What is wrong with the answer to one input; nothing, if all is well."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(family), number])
    box.emptied()
    call = FAMILIES[family](box, rng)
    before = files_in(box.folder)
    shown, told, ended = io.StringIO(), io.StringIO(), None
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with (
        chdir(box.out),
        warnings.catch_warnings(record=True) as caught,
        redirect_stdout(shown),
        redirect_stderr(told),
        watched(box.out) as watch,
    ):
        warnings.simplefilter("always")
        try:
            with time_limit(SECONDS):
                code = call()
        except (Exception, Hang):
            code, ended = None, traceback.format_exc()
    found = [
        f"{family} {number}: {each}" for each in _judged(box, code, ended, told, before)
    ]
    found += [f"{family} {number}: it did {deed}" for deed in watch.deeds]
    found += [
        f"{family} {number}: it warned {each.message}" for each in caught if told is None
    ]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    if grown > GIBIBYTE:
        found.append(f"{family} {number}: it took {grown / GIBIBYTE:.1f} GiB")
    return found


def _judged(box, code, ended, told, before):
    if ended is not None:
        yield ended
        return
    said = told.getvalue()
    if code not in (0, BAD_INPUT):
        yield f"exit code {code}: {said}"
    if "Traceback" in said:
        yield f"a traceback: {said}"
    if code == BAD_INPUT and not _is_sentence(said) and "Usage:" not in said:
        yield f"no sentence: {said!r}"
    if box.proof.exists():
        box.proof.unlink()
        yield "code of the file was executed"
    after = files_in(box.folder)
    new = {name for name in after if before.get(name) != after[name]}
    strange = {name for name in new if not name.startswith("out") or name.endswith(".tmp")}
    if strange:
        yield f"files changed: {strange}"
    if code == BAD_INPUT and any(name.startswith("out" + os.sep) for name in new):
        yield f"refused, but wrote {new}"


def _is_sentence(said):
    line = said.rstrip("\n")
    ends = line.endswith((".", "!"))
    return (
        line.startswith("wdrsvm: ")
        and ends
        and line.isprintable()
        and len(line) < LONGEST_SENTENCE
    )
