# make test: everything the project promises.  Needs python >= 3.11 with its headers, make
# and a C compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The build looks for its own commands on the path.
export PATH := $(CURDIR)/$(BIN):$(PATH)
READY := $(VENV)/.ready
DEMO_READY := $(VENV)/.demo-ready
DOCS_READY := $(VENV)/.docs-ready
ROOMS := estimators inputs problem robustness rows solvers
COUNTED := $(addprefix tests/,agreement $(ROOMS))

# Slow tests stand side by side in their files: workers that have none left take some over.
# Each processor has a worker.  More threads of BLAS would only wait for each other.
SIDE_BY_SIDE := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

.DEFAULT_GOAL := test
# The build's own requirements stay: an editable install builds again what has changed when
# it is imported.
BUILD := "cython>=3.1" "meson-python>=0.16" ninja "scipy>=1.12"
INSTALL := $(BIN)/python -m pip install --quiet --no-build-isolation -e
.PHONY: native demo test lint bench soak errors label-audit stress coverage sanitize dist test-matrix mutants docs clean browser fuzz checks

# Once, before tests run side by side: all of them would begin to build.
native: $(READY)
	$(BIN)/python -c "import wdrsvm"

demo: $(DEMO_READY)
	@$(BIN)/python -m wdrsvm.demo

test: lint coverage
	$(SIDE_BY_SIDE) $(addprefix --ignore=,$(COUNTED))

# Lines of kernels are counted where they run uncompiled.  Counting slows tests down: the
# first variants of each test suffice, and the others run without it.
COUNT := --cov --cov-report= --counted-variants=4
coverage: native
	$(SIDE_BY_SIDE) $(COUNT) $(COUNTED)
	WDRSVM_CPU=python $(SIDE_BY_SIDE) $(COUNT) --cov-append -m tiny tests/solvers
	set -e; for room in $(ROOMS); do \
		echo "$$room:"; \
		$(BIN)/coverage report --fail-under=95 --include="src/wdrsvm/$$room/*"; \
	done

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# scikit-learn's checks of searches with their defaults, and mixed tables against the
# enumerated program; six minutes.
checks: native
	$(SIDE_BY_SIDE) -m exhaustive tests/estimators tests/agreement

# Malformed files and random parameters by the thousand; a quarter of an hour.
fuzz: native
	WDRSVM_FUZZ=$${WDRSVM_FUZZ:-10000} WDRSVM_PROPERTIES=$${WDRSVM_PROPERTIES:-10} \
		$(SIDE_BY_SIDE) tests/fuzz tests/properties tests/test_security.py

bench: $(READY)
	$(BIN)/python -m benchmarks

# Some ten minutes; a run that was cut short goes on where it was.
stress: $(READY)
	$(BIN)/python -m benchmarks.stress --csv docs/results/stress.csv

# Threads, processes and a cluster whose workers are killed, at work for an hour.
soak: $(READY)
	$(BIN)/python -m benchmarks.soak --json docs/results/soak.json

# Worst-case errors of several learners on tables of their own; a quarter of an hour, and
# it goes on where it was.  Then the coverage of sets.
errors: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.studies.worst_case_error.study \
		--csv worst-case-error.csv --out docs/results
	$(BIN)/python -m benchmarks.studies.sets.study --csv docs/results/sets.csv

# Wrong labels that audits find, beside cleanlab; it goes on where it was.  Then the kinds of
# noise that are recognised, and what votes are worth.
label-audit: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.studies.label_audit.study label-audit.jsonl \
		--out docs/results
	$(BIN)/python -m benchmarks.studies.label_noise.kinds --csv docs/results/label-noise-kinds.csv
	$(BIN)/python -m benchmarks.studies.label_noise.crowd_votes --csv docs/results/crowd-votes.csv

# Kernels with the sanitizers of the C compiler, in an environment of their own that borrows
# the packages of the other one: reads beyond arrays, undefined arithmetic.  An hour.
SANITIZED := $(CURDIR)/.sanitized
PACKAGES = import sysconfig; print(sysconfig.get_path("purelib"))
UNSAFE := -Csetup-args=-Db_sanitize=address,undefined -Csetup-args=-Db_lundef=false
sanitize: $(READY)
	$(BIN)/python -m venv --without-pip $(SANITIZED)
	$(BIN)/python -c '$(PACKAGES)' \
		> $$($(SANITIZED)/bin/python -c '$(PACKAGES)')/borrowed.pth
	$(SANITIZED)/bin/python -m pip install --quiet --no-build-isolation --no-deps $(UNSAFE) \
		--force-reinstall .
	for build in v3 baseline; do \
		WDRSVM_CPU=$$build LD_PRELOAD="$$(cc -print-file-name=libasan.so)" \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		$(SANITIZED)/bin/python -m pytest -q -o pythonpath= -p no:cacheprovider \
		-m "not slow" tests/solvers tests/problem/certificate || exit 1; \
	done

# The release, built, looked into, installed in an empty environment and run there.
dist: $(READY)
	$(INSTALL) ".[release]"
	$(BIN)/python -m tools.dist

# Oldest and newest versions of Python and of what we depend on; an hour on two cores.
# pyenv's Pythons are named by their folders: its own commands know only those in use.
test-matrix: $(READY)
	PATH="$$(printf '%s:' $${PYENV_ROOT:-$$HOME/.pyenv}/versions/*/bin)$$PATH" $(BIN)/nox

# A sample of small wrong changes: do the tests notice?
mutants: $(READY)
	$(BIN)/python -m tools.mutants

docs: $(DOCS_READY)
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# A browser for the test of the pages, where this is Debian and there is none.
browser:
	command -v chromium && command -v chromedriver || \
		{ apt-get update && apt-get install --yes chromium chromium-driver; }

clean:
	rm -rf $(VENV) $(SANITIZED) .nox .mutants docs/_build docs/gallery docs/reference dist build
	rm -rf .coverage
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The stamps are files: a second run installs nothing unless the dependencies changed.
$(READY): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet $(BUILD)
	$(INSTALL) ".[test,reference,plot,cli,data,dask,onnx]"
	touch $(DEMO_READY) $@

# The demo needs no linter and no test.
$(DEMO_READY): pyproject.toml | $(BIN)/python
	@echo "Install what the demo needs, in $(VENV): NumPy, SciPy, scikit-learn, matplotlib."
	@$(BIN)/python -m pip install --quiet $(BUILD)
	@echo "Compile the package; about a minute."
	@$(INSTALL) ".[report]"
	@touch $@

$(DOCS_READY): pyproject.toml $(READY)
	$(INSTALL) ".[docs]"
	touch $@
