# Everything a newcomer needs: `make demo` and `make test` install what they use into .venv and run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TOO_OLD := tauform needs Python 3.11 or newer; name one with: make PYTHON=python3.12

# Small matrices gain nothing from BLAS threads, and test workers would fight over the cores.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1

.PHONY: metrics help demo test lint format types tests nightly sweeps fuzz lowest sbom faults verdicts coretypes bench docs clean

help:
	@echo "make demo    show a robot and its dynamics"
	@echo "make test    lint, types and tests"
	@echo "make docs    build the pages into site/, with the plots of the examples"
	@echo "make nightly everything that takes long, with a table: make sweeps (every case of what tests sample),"
	@echo "             coretypes (the same texts on every kind of processor), fuzz (damaged files, odd command lines),"
	@echo "             faults (kill -9, full disks, signals), verdicts (seeded faults of logs), lowest (the oldest dependencies)"
	@echo "make sbom    what the wheel holds and needs, as CycloneDX"
	@echo "make lint | format | types | tests | bench | clean"

demo: $(VENV)/.core
	$(BIN)/python examples/demo.py

test: lint types tests

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.test
	$(BIN)/mypy

tests: $(VENV)/.test
	$(BIN)/python -m pytest $(PYTEST_OPTIONS)

# Everything, with a table at its end; one stage fails alone. make nightly STAGES="fuzz faults"
nightly: $(VENV)/.test
	$(BIN)/python tools/nightly.py $(STAGES)

# Every case of what `make tests` samples, but those with targets of their own.
sweeps: $(VENV)/.test
	$(BIN)/python -m pytest -m nightly --ignore=tests/machines $(PYTEST_OPTIONS)
	MJCF_SCALE=8 $(BIN)/python -m pytest tests/oracles/test_description_mujoco.py $(PYTEST_OPTIONS)

# Processes killed at every step and at random, full disks, signals: a table of what was damaged, missing or left.
faults: $(VENV)/.test
	FAULTS=all $(BIN)/python -m pytest -n 0 tests/files
	PYTHONPATH=src:tests $(BIN)/python -m faults

# Seeded faults of simulated robots: a table of what verdicts name, miss and falsely alarm about.
verdicts: $(VENV)/.test
	PYTHONPATH=src:tests:. $(BIN)/python -m verdicts --show

# One of the nightly sweeps: everything generated, searched and saved, made as on other kinds of machines.
coretypes: $(VENV)/.test
	$(BIN)/python -m pytest -m "nightly or not nightly" tests/machines $(PYTEST_OPTIONS)

# Damaged files and odd command lines: eight times the cases of `make tests`, new ones every day.
fuzz: $(VENV)/.test
	FUZZ_SCALE=8 $(BIN)/python -m pytest tests/fuzz $(PYTEST_OPTIONS)

# Every dependency at its lower bound, in environments of their own. Coal brings a NumPy that the oldest versions of the
# others do not know, so it has one for itself.
LOWEST := .venv-lowest
LOWEST_TESTS := tests/description tests/rigidbody tests/laws tests/closedform/model tests/codegen/runtime \
	tests/codegen/backends tests/identification/logs tests/identification/export tests/fuzz/test_readers.py tests/cli/verbs/measurements/test_identify.py
lowest: $(LOWEST)/.ready $(LOWEST)-collision/.ready
	$(LOWEST)/bin/python -m pytest $(PYTEST_OPTIONS) $(LOWEST_TESTS)
	$(LOWEST)-collision/bin/python -m pytest $(PYTEST_OPTIONS) tests/identification/motion/test_clearance.py

$(LOWEST)/.ready: WHICH := --without collision
$(LOWEST)-collision/.ready: WHICH := --only collision
$(LOWEST)/.ready $(LOWEST)-collision/.ready: pyproject.toml tools/lowest.py | $(BIN)/python
	$(BIN)/python -m venv --clear $(@D)
	$(BIN)/python tools/lowest.py $(WHICH) > $(@D)/requirements.txt
	$(@D)/bin/python -m pip install --quiet --requirement $(@D)/requirements.txt --editable . pytest pytest-xdist hypothesis packaging
	@touch $@

# What the wheel holds and needs, as CycloneDX.
sbom: $(VENV)/.test
	$(BIN)/python -m build --quiet --wheel --outdir dist .
	$(BIN)/python tools/sbom.py "$$(ls -t dist/*.whl | head -1)" > dist/tauform.cdx.json
	@echo "wrote dist/tauform.cdx.json"

# Rooms, lengths, cycles: figures of the source itself.
metrics: $(BIN)/python
	$(BIN)/python tools/metrics.py

# make bench NAMES="batched_inverse_dynamics"
bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks $(NAMES)

# Warnings are errors; nothing is fetched while the pages are built, nor when they are read.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html"

clean:
	rm -rf build dist site .venv-lowest .venv-lowest-collision .mypy_cache .ruff_cache .pytest_cache .hypothesis

# A stamp is as old as the last installation; a change of the dependencies renews it.
$(VENV)/.core: EXTRA :=
$(VENV)/.test: EXTRA := [test]
$(VENV)/.bench: EXTRA := [bench]
$(VENV)/.docs: EXTRA := [docs]
$(VENV)/.ci: EXTRA := [test,docs]
$(VENV)/.core $(VENV)/.test $(VENV)/.bench $(VENV)/.docs $(VENV)/.ci: pyproject.toml | $(BIN)/python
	@echo "installing tauform$(EXTRA) into $(VENV)"
	@$(BIN)/python -m pip install --quiet --editable ".$(EXTRA)"
	@touch $@ $(STAMPS)
$(VENV)/.ci: STAMPS := $(VENV)/.test $(VENV)/.docs

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("$(TOO_OLD)" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
