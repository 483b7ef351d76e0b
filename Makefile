# `make` lists the targets. PYTHON chooses the interpreter; PIP_FLAGS is passed to pip. TORCH_INDEX is where the CPU build
# of torch lies: on Linux, PyPI has the build with CUDA, which needs gigabytes. An empty one takes PyPI's.
PYTHON ?= python3
PIP_FLAGS ?=
TORCH_INDEX ?= $(if $(filter Linux,$(shell uname -s)),https://download.pytorch.org/whl/cpu)
BENCH_FLAGS ?=
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test exhaustive fuzz check oracle bench docs site accuracy format clean

help:  ## List the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/.base  ## Set up .venv, then compile, run and check cosh
	$(BIN)/ttnn-jit demo

# What the first process compiles is read by the others, which tests start by the hundred, and by the next run.
test exhaustive fuzz: export PYTHONDONTWRITEBYTECODE :=

test: $(VENV)/.dev  ## Set up .venv, then run every test, with a part of the values of its parameters
	$(BIN)/python -m pytest -q -n auto --dist worksteal --hypothesis-profile=sample

exhaustive: $(VENV)/.dev  ## All tests, with all products of their parameters: what a change passes before it lands
	$(BIN)/python -m pytest -q -n auto --dist worksteal

fuzz: $(VENV)/.dev  ## The tests that draw examples, with new ones at every run, and four times as many as stated
	$(BIN)/python -m pytest -q -n auto --dist worksteal --hypothesis-profile=fuzz -m "hypothesis and not oracle"

check: $(VENV)/.dev  ## Format, lint, types and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

oracle: $(VENV)/.oracle  ## Have the MLIR parser of jaxlib read our dumps (a large download)
	$(BIN)/python -m pytest -q -m oracle tests/oracle

bench: $(VENV)/.bench  ## All benchmarks into benchmarks/results; BENCH_FLAGS=--quick for a quarter of an hour, --resume
	$(BIN)/python -m benchmarks.run $(BENCH_FLAGS)

docs: $(VENV)/.dev  ## Renew what is made from the code: the tables in docs/ and the stubs
	$(BIN)/python -m ttnn_jit.tools.stubs
	$(BIN)/ttnn-jit names --write docs/from_ttnn.md
	$(BIN)/ttnn-jit env --write docs/command_line.md
	$(BIN)/ttnn-jit opt --write docs/command_line.md
	$(BIN)/ttnn-jit opt --write docs/passes_over_texts.md
	$(BIN)/python -m ttnn_jit.tools.ttrt.option_tables docs/ttrt.md
	$(BIN)/python -m benchmarks.usage --write docs/usage.md
	$(BIN)/python -m docs.site_pages.rooms

site: $(VENV)/.site  ## The documentation as a site in build/site; warnings and broken links are errors
	rm -rf build/site
	$(BIN)/python -m sphinx -b html -q -W --keep-going docs build/site
	@echo "written: build/site/index.html"

accuracy: $(VENV)/.dev $(VENV)/.bench  ## Measure every operation against float64 and mpmath: docs/accuracy.md
	$(BIN)/python -W ignore -m benchmarks.accuracy --write docs/accuracy.md
	$(BIN)/python -W ignore -m benchmarks.accuracy.sums --write docs/accuracy.md

format: $(VENV)/.dev  ## Rewrite the sources as `make check` wants them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## Remove the environment and everything generated
	rm -rf $(VENV) build dist generated docs/generated *.egg-info .mypy_cache .ruff_cache .hypothesis

PIP = $(BIN)/python -m pip install -q $(PIP_FLAGS) -c constraints.txt

# pip tries an index that does not answer again and again, for every package: it is told of one that does, or of none.
TORCH_FLAGS = $(if $(TORCH_INDEX),$$($(BIN)/python -c "$$PROBE" $(TORCH_INDEX)))

define PROBE
import sys, urllib.request
try:
    urllib.request.urlopen(sys.argv[1] + "/torch/", timeout=5).close()
    print("--extra-index-url", sys.argv[1])
except OSError as error:
    print(f"torch is taken from pip's own index: {sys.argv[1]} does not answer ({error})", file=sys.stderr)
endef
export PROBE

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "ttnn_jit needs Python 3.11 or newer: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) $(TORCH_FLAGS) -e .
	touch $@

$(VENV)/.dev: $(VENV)/.base
	$(PIP) -e '.[dev]'
	touch $@

$(VENV)/.oracle: $(VENV)/.dev
	$(PIP) -e '.[oracle]'
	touch $@

$(VENV)/.bench: $(VENV)/.base
	$(PIP) -e '.[bench]'
	touch $@

$(VENV)/.site: $(VENV)/.base
	$(PIP) -e '.[site]'
	touch $@
