# Two commands matter: `make run` lints a file, `make test` checks everything.
# Both make their virtual environments on first use.

PYTHON ?= python3
VENV := .venv
NEWEST := .venv-newest
BIN := $(VENV)/bin
FILE ?= fixtures/quickstart/kernels.py
ARGS ?=

.PHONY: run test lint types unit newest slow unit-slow newest-slow corpus fuzz mutate bench goldens clean

run: $(VENV)/.installed
	$(BIN)/triton-mutlint $(ARGS) $(FILE)

# The two suites side by side: each is one process.
test:
	$(MAKE) $(VENV)/.installed $(NEWEST)/.installed
	$(MAKE) -j2 --output-sync=target newest unit lint types

lint: $(VENV)/.installed
	$(BIN)/ruff check .

types: $(VENV)/.installed
	$(BIN)/mypy

# The default environment: torch and the Triton it requires.
unit: $(VENV)/.installed
	$(BIN)/python -m pytest

# The newest Triton, without torch.
newest: $(NEWEST)/.installed
	$(NEWEST)/bin/python -m pytest

# Those that take seconds each: many processes, ops run by torch, random input. CI runs them too.
slow:
	$(MAKE) $(VENV)/.installed $(NEWEST)/.installed
	$(MAKE) -j2 --output-sync=target newest-slow unit-slow

unit-slow: $(VENV)/.installed
	$(BIN)/python -m pytest -m slow

newest-slow: $(NEWEST)/.installed
	$(NEWEST)/bin/python -m pytest -m slow

# Installs pinned third-party packages, without their dependencies, into .corpus/ and lints them.
# CORPUS=all or CORPUS=sglang,vllm adds to the default ones; CORPUS_DIR names another folder for them.
corpus: $(NEWEST)/.installed
	$(NEWEST)/bin/python -m pytest -m corpus tests/corpus

# Random kernels, analysed and run in Triton's interpreter, then broken TTIR; docs/verification.md.
# FUZZ_SEED=... repeats a run, FUZZ_ARGS=--over names the over-approximations too.
FUZZ_SECONDS ?= 300
FUZZ_SEED ?= $(shell date +%s)
fuzz: $(NEWEST)/.installed
	$(NEWEST)/bin/python -m fuzz --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED) $(FUZZ_ARGS)
	$(NEWEST)/bin/python -m fuzz.text --seconds 60 --seed $(FUZZ_SEED)

# The analysis broken in one place at a time: which faults does no test notice? MUTATE_ARGS='--only ^ops' names some.
mutate: $(NEWEST)/.installed
	$(NEWEST)/bin/python -m fuzz.mutate $(MUTATE_ARGS)

bench: $(NEWEST)/.installed
	$(NEWEST)/bin/python -m benchmarks.overhead
	$(NEWEST)/bin/python -m benchmarks.scaling

goldens: $(NEWEST)/.installed
	UPDATE_GOLDENS=1 $(NEWEST)/bin/python -m pytest tests/report tests/test_goldens.py

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -c constraints.txt -e '.[dev,torch]'
	touch $@

# What the tool itself requires, and what the tests do: no torch, the tool must work without it.
$(NEWEST)/.installed: pyproject.toml constraints-newest.txt
	$(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/pip install -q -c constraints-newest.txt -e '.[fix]' pytest jsonschema hypothesis numpy
	touch $@

clean:
	rm -rf $(VENV) $(NEWEST) .pytest_cache .mypy_cache .ruff_cache
