# Everything a newcomer needs: `make demo` and `make test` install what they use into .venv and run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TOO_OLD := tauform needs Python 3.11 or newer; name one with: make PYTHON=python3.12

# Small matrices gain nothing from BLAS threads, and test workers would fight over the cores.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1

.PHONY: metrics help demo test lint format types tests nightly faults coretypes fuzz bench docs clean

help:
	@echo "make demo    show a robot and its dynamics"
	@echo "make test    lint, types and tests"
	@echo "make docs    build the pages into site/, with the plots of the examples"
	@echo "make nightly the sweeps that take long, with make faults: kill -9, full disks, signals;"
	@echo "             make coretypes: the same texts on every kind of processor;"
	@echo "             make fuzz: damaged files and odd command lines, tens of thousands"
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

nightly: $(VENV)/.test faults fuzz
	$(BIN)/python -m pytest -m nightly $(PYTEST_OPTIONS)

# Processes killed at every step and at random, full disks, signals: a table of what was damaged, missing or left.
faults: $(VENV)/.test
	FAULTS=all $(BIN)/python -m pytest -n 0 tests/files
	PYTHONPATH=src:tests $(BIN)/python -m faults

# One of the nightly sweeps: everything generated, searched and saved, made as on other kinds of machines.
coretypes: $(VENV)/.test
	$(BIN)/python -m pytest -m "nightly or not nightly" tests/machines $(PYTEST_OPTIONS)

# Damaged files and odd command lines: eight times the cases of `make tests`, new ones every day.
fuzz: $(VENV)/.test
	FUZZ_SCALE=8 $(BIN)/python -m pytest tests/fuzz $(PYTEST_OPTIONS)

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
	rm -rf build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis

# A stamp is as old as the last installation; a change of the dependencies renews it.
$(VENV)/.core: EXTRA :=
$(VENV)/.test: EXTRA := [test]
$(VENV)/.bench: EXTRA := [bench]
$(VENV)/.docs: EXTRA := [docs]
$(VENV)/.core $(VENV)/.test $(VENV)/.bench $(VENV)/.docs: pyproject.toml | $(BIN)/python
	@echo "installing tauform$(EXTRA) into $(VENV)"
	@$(BIN)/python -m pip install --quiet --editable ".$(EXTRA)"
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("$(TOO_OLD)" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
