# Two commands matter: `make run` lints a file, `make test` checks everything that takes no longer than minutes.
# Both make their virtual environments on first use.

PYTHON ?= python3
VENV := .venv
NEWEST := .venv-newest
BIN := $(VENV)/bin
FILE ?= fixtures/quickstart/kernels.py
ARGS ?=

# The versions of Triton that are supported; the books of known-answer kernels run on each.
OLDEST := 3.3.1
MATRIX := $(OLDEST) 3.4.0 3.5.1 3.6.0 3.7.1 3.8.0 3.9.0
BOOKS := tests/test_cases.py tests/lowering tests/signature/test_guesses.py tests/compiled

.PHONY: run environments test slow environments-of-ci lint types unit newest matrix oldest
.PHONY: triton-names corpus fuzz mutate bench goldens clean

run: $(VENV)/.installed
	$(BIN)/triton-mutlint $(ARGS) $(FILE)

# Every process would compile the package, and each suite its tests, again.
unexport PYTHONDONTWRITEBYTECODE

# Compiling every module of torch takes longer than compiling those that are imported.
PIP_FLAGS := -q --no-compile

# How many processes the larger suites are spread over.
WORKERS ?= auto
SPREAD := -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# Which tests a suite runs, of those that its environment is for.
QUICK := not slow and not fuzz and not corpus
ALL := not fuzz and not corpus
WHICH := $(QUICK)

test:
	$(MAKE) -j2 environments
	$(MAKE) -j2 --output-sync=target newest unit lint types

# Those that take seconds each, or a minute: many processes, ops run by torch, random input.
slow:
	$(MAKE) -j2 environments
	$(MAKE) -j2 --output-sync=target newest unit WHICH=slow

environments: $(VENV)/.installed $(NEWEST)/.installed

environments-of-ci: environments .matrix/$(OLDEST)/.installed

lint: $(VENV)/.installed
	$(BIN)/ruff check .

types: $(VENV)/.installed
	$(BIN)/mypy

# The newest Triton, without torch: all tests but those that need torch.
newest: $(NEWEST)/.installed
	$(NEWEST)/bin/python -m pytest $(SPREAD) -m '$(WHICH)'

# The default environment, torch and the Triton it requires: the tests that need torch, and those whose answers may
# differ between versions of Triton; slow ones run in one environment.
unit: $(VENV)/.installed
	$(BIN)/python -m pytest -m '(torch or both and not slow) and $(WHICH)'

# The known-answer kernels on every supported Triton, each in an environment of its own; matrix-3.4.0 runs one.
matrix: WHICH := $(ALL)
matrix: $(MATRIX:%=matrix-%)

oldest: WHICH := $(QUICK)
oldest: matrix-$(OLDEST)

matrix-%: .matrix/%/.installed
	.matrix/$*/bin/python -m pytest $(SPREAD) -m '$(WHICH)' $(BOOKS)

.PRECIOUS: .matrix/%/.installed
.matrix/%/.installed: pyproject.toml
	$(PYTHON) -m venv .matrix/$*
	.matrix/$*/bin/pip install $(PIP_FLAGS) --no-deps triton==$*
	.matrix/$*/bin/pip install $(PIP_FLAGS) setuptools click rich pyyaml ruamel.yaml tomli pytest pytest-xdist jsonschema hypothesis numpy
	.matrix/$*/bin/pip install $(PIP_FLAGS) --no-deps -e .
	touch $@

# Asks each Triton of the matrix for its public names: messages say which versions have what a kernel lacks.
triton-names: $(MATRIX:%=.matrix/%/.installed)
	$(NEWEST)/bin/python -m scripts.triton_names $(MATRIX:%=.matrix/%/bin/python)

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
	$(NEWEST)/bin/python -m pytest -m fuzz -n $(WORKERS) --dist worksteal

# The analysis broken in one place at a time: which faults does no test notice? MUTATE_ARGS='--only ^ops' names some.
mutate: $(NEWEST)/.installed
	$(NEWEST)/bin/python -m fuzz.mutate $(MUTATE_ARGS)

bench: $(NEWEST)/.installed
	$(NEWEST)/bin/python -m benchmarks.overhead
	$(NEWEST)/bin/python -m benchmarks.scaling

goldens: $(NEWEST)/.installed
	UPDATE_GOLDENS=1 $(NEWEST)/bin/python -m pytest tests/report tests/test_cases.py tests/test_documented.py

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install $(PIP_FLAGS) -c constraints.txt -e '.[dev,torch]'
	touch $@

# Without torch: the tool must work without it.
$(NEWEST)/.installed: pyproject.toml constraints-newest.txt
	$(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/pip install $(PIP_FLAGS) -c constraints-newest.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) $(NEWEST) .matrix .pytest_cache .mypy_cache .ruff_cache
