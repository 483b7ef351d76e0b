# `make` lists the targets. PYTHON chooses the interpreter; PIP_FLAGS is passed to pip, for instance
# PIP_FLAGS="--extra-index-url https://download.pytorch.org/whl/cpu" for a CPU build of torch.
PYTHON ?= python3
PIP_FLAGS ?=
BENCH_FLAGS ?=
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test check oracle bench docs accuracy format clean

help:  ## List the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/.base  ## Set up .venv, then compile, run and check cosh
	$(BIN)/ttnn-jit demo

test: $(VENV)/.dev  ## Set up .venv, then run the tests
	$(BIN)/python -m pytest -q -n auto

check: $(VENV)/.dev  ## Format, lint, types and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

oracle: $(VENV)/.oracle  ## Have the MLIR parser of jaxlib read our dumps (a large download)
	$(BIN)/python -m pytest -q -m oracle tests/oracle

bench: $(VENV)/.bench  ## All benchmarks into benchmarks/results; BENCH_FLAGS=--quick for four minutes, --resume
	$(BIN)/python -m benchmarks.run $(BENCH_FLAGS)

docs: $(VENV)/.dev  ## Renew the tables in docs/ that are made from the code
	$(BIN)/ttnn-jit names --write docs/from_ttnn.md
	$(BIN)/ttnn-jit env --write docs/command_line.md

accuracy: $(VENV)/.dev $(VENV)/.bench  ## Measure every operation against float64 and mpmath: docs/accuracy.md
	$(BIN)/python -W ignore -m benchmarks.accuracy --write docs/accuracy.md

format: $(VENV)/.dev  ## Rewrite the sources as `make check` wants them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## Remove the environment and everything generated
	rm -rf $(VENV) build dist generated *.egg-info .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "ttnn_jit needs Python 3.11 or newer: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install -q $(PIP_FLAGS) -c constraints.txt -e .
	touch $@

$(VENV)/.dev: $(VENV)/.base
	$(BIN)/python -m pip install -q $(PIP_FLAGS) -c constraints.txt -e '.[dev]'
	touch $@

$(VENV)/.oracle: $(VENV)/.dev
	$(BIN)/python -m pip install -q $(PIP_FLAGS) -c constraints.txt -e '.[oracle]'
	touch $@

$(VENV)/.bench: $(VENV)/.base
	$(BIN)/python -m pip install -q $(PIP_FLAGS) -c constraints.txt -e '.[bench]'
	touch $@
