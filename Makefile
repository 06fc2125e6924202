# The commands of this project; `make` alone lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# compat: a path instead of a finder, which each start of Python would load anew. Most
# modules of what is installed are never used: Python compiles the others at first use.
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile
# The pip that comes with Python 3.11 takes twice as long to choose what to install.
NEWER := $(INSTALL) --upgrade pip 'setuptools>=77'
# Else pip would install setuptools anew for each of the three.
EDITABLE := PYTHONWARNINGS=ignore $(INSTALL) --no-build-isolation --config-settings editable_mode=compat
.DEFAULT_GOAL := help
# The tests start thousands of Pythons: each would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help demo test test-all nightly fuzz testbed lint setup tools docs man wheel bench bench-staging bench-start bench-chains bench-fidelity format clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

PARTS := pyproject.toml setup.py lab/pyproject.toml lab/setup.py $(wildcard pegasus_bb/*/*/_*.c lab/*/*/_*.c)

$(BIN)/pip:
	@$(PYTHON) -c '' 2>/dev/null || { echo "$(PYTHON) is no Python that starts; pegasus_bb needs 3.10 or newer. Say make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "pegasus_bb needs Python 3.10 or newer; $(PYTHON) is older. Say make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { echo "$(PYTHON) cannot make a virtual environment: install python3-venv" >&2; exit 2; }

$(VENV)/.installed: $(PARTS) | $(BIN)/pip
	$(NEWER)
	$(EDITABLE) -e '.[examples,pages]' -e lab
	@touch $@

# One call of pip for all; what it has installed is more than setup wants.
$(VENV)/.tools: $(PARTS) testbed/pyproject.toml | $(BIN)/pip
	$(NEWER)
	$(EDITABLE) -e '.[examples,pages,test,lint,docs]' -e lab -e testbed
	@touch $(VENV)/.installed $@

# Else each worker of pytest would compile all modules and tests.
$(VENV)/.compiled: $(VENV)/.tools
	-@$(BIN)/python -m pytest --collect-only -qq >/dev/null
	@touch $@

setup: $(VENV)/.installed  ## make .venv with pegasus-bb and what the examples need

tools: $(VENV)/.tools  ## the same with what tests, checks and docs need

demo: setup  ## compare both examples on the PFS and on the burst buffer
	$(BIN)/python examples/demo.py

test: tools lint $(VENV)/.compiled  ## check style and types, and every promise once: some minutes
	$(BIN)/python -m pytest -n 3 $(PYTEST)

test-all:  ## the same with repetitions, crashes and, as root, sites
	@$(MAKE) test PYTEST="-n 5 --thorough --durations 25 --durations-min 20"

nightly: tools  ## crashes at every call, papers anew; as root: hints on a real kernel in QEMU
	$(BIN)/python -m pytest -n 2 --every-call tests/crash
	$(BIN)/python -m pytest -m nightly -rsP tests/nightly lab/tests/papers

testbed: tools  ## as root: build the sites of some tests (docs/testbed.md)
	@build() { $(BIN)/pegasus-bb testbed "$$@" up --install && $(BIN)/pegasus-bb testbed "$$@" down; }; \
	build --slurm 22.05 & other=$$!; \
	build && build --bb lua && build --number 2 || failed=1; \
	wait $$other || failed=1; exit $${failed:-0}

fuzz: tools  ## SECONDS=120: damaged files for every reader of foreign text
	$(BIN)/python -m tests.fuzz $(SECONDS)

lint: tools  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: tools  ## let ruff put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: tools  ## what each part costs, against its goal
	$(BIN)/python benchmarks/planning.py
	$(BIN)/python benchmarks/launch.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/pegasus.py
	$(BIN)/python -m benchmarks.stager
	$(BIN)/python -m benchmarks.slurm_lua
	$(BIN)/python benchmarks/campaigns.py
	$(BIN)/python -m benchmarks.predicted_on_testbed
	$(BIN)/python benchmarks/draining.py
	$(BIN)/python -m benchmarks.draining_optimum
	$(BIN)/python -m benchmarks.drain_run
	$(BIN)/python -m benchmarks.drain_four
	$(BIN)/python -m benchmarks.drain_workflows
	$(BIN)/python -m benchmarks.flash

bench-start: tools  ## what the start of a job costs, beside Snakemake, Parsl and others
	$(BIN)/python -m benchmarks.starting

bench-chains: tools  ## files that stay on their node, beside Snakemake, Parsl and Dask
	$(BIN)/python -m benchmarks.chains

bench-fidelity: tools  ## how far forecasts are off, on an idle machine
	$(BIN)/python -m benchmarks.fidelity

bench-staging: tools  ## copying trees beside cp, rsync, ... (docs/staging.md)
	$(BIN)/python -m benchmarks.staging $(BENCH)

docs: tools  ## build the documentation into site/; it needs no network
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "the site begins at site/index.html"

man: tools  ## write manual pages into build/man
	$(BIN)/python docs/site/manual.py build/man

wheel: tools  ## write an sdist, and wheels of all three distributions, into dist/
	$(BIN)/python -m build --sdist --outdir dist . >/dev/null
	for part in . ./lab ./testbed; do \
		$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist $$part && \
		PEGASUS_BB_PURE=1 $(BIN)/pip wheel --quiet --no-deps --wheel-dir dist $$part || exit; \
	done

clean:  ## remove what make made
	-@[ ! -e $(VENV)/.installed ] || $(BIN)/python examples/demo.py --clean
	rm -rf $(VENV) demo site build dist *.egg-info */*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -f pegasus_bb/runtime/staging/_small*.so lab/pegasus_bb_lab/flash/_flash*.so
