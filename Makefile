# The same commands for people and for .ci/run. Each sets itself up first: .venv, from $(PYTHON), with pinned tools.
#   make demo     profile an example and show the times beside its lines
#   make test     all tests                   make check    lint, format, types, layering
#   make quick    the quick ones, a minute    make test-pythons  the quick ones on the oldest and the newest Python here
#   make bench    the benchmarks              make gpu-test all that needs a CUDA GPU
#   make build    wheel and sdist in dist/    make vsix     the VS Code extension in dist/; TARGET=win32-x64 and so on
#   make clean    remove what these commands made, but for .venv

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# npm writes this file last.
NODE_READY := node_modules/.package-lock.json

.PHONY: demo test quick test-pythons check bench gpu-test build vsix clean

demo: $(READY)
	@bash scripts/demo.sh

# Tests start interpreters that import torch: one thread each, so that they don't fight over the cores.
test: export OMP_NUM_THREADS = 1
test: $(READY) $(NODE_READY)
	@bash scripts/set_up_browser.sh
	npm run --silent unit
	$(BIN)/python -m pytest -n auto --dist worksteal --durations=15 $(ARGS)

# The folders whose tests start no interpreter that imports torch, no server, no browser, and read no large trace.
QUICK := $(addprefix tests/,cli jobs output results run source trace test_errors.py test_links.py runner/test_schedule.py \
	$(addprefix analysis/test_,attribution_cases.py bounds.py findings_made.py region_log.py statistics.py) \
	$(addprefix server/,test_docs.py text settings $(addsuffix .py,features/test_pages features/test_texts results/test_tidying runs/test_workers))) \
	$(addprefix --ignore=tests/,source/test_long_classes.py source/test_placement.py trace/test_fuzzed_traces.py trace/test_hostile_traces.py)

quick: $(READY)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile $(QUICK) $(ARGS)

# Without torch, which neither the core nor the server imports.
test-pythons: $(READY)
	QUICK='$(QUICK)' bash scripts/test_pythons.sh $(ARGS)

check: $(READY) $(NODE_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/python -m pytest -q tests/test_layering.py
	npm run --silent types
	npm run --silent lint

bench: $(READY)
	@set -e; for benchmark in $(wildcard benchmarks/*.py); do echo "== $$benchmark"; $(BIN)/python "$$benchmark"; done

gpu-test: $(READY)
	PYTHON=$(CURDIR)/$(BIN)/python bash tests/gpu/run_all.sh

# Without isolation: the build backend is then the pinned one of .venv.
build: $(READY)
	rm -f dist/*.whl dist/*.tar.gz
	$(BIN)/python -m build --no-isolation

vsix: $(READY) $(NODE_READY)
	$(BIN)/python scripts/build_vsix.py $(TARGET)

clean:
	rm -rf .pythons dist extension/dist extension/dist-test extension/bundled .coverage .hypothesis .pytest_cache .ruff_cache
	find profiler_core tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(NODE_READY): package-lock.json
	@command -v npm >/dev/null && node -e 'process.exit(+(parseInt(process.versions.node) < 20))' || \
		{ echo "Node 20 or newer, with npm, is not here. On Debian 13: apt-get install nodejs npm. Else: https://nodejs.org" >&2; exit 1; }
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(READY): pyproject.toml constraints-dev.txt
	@PYTHON='$(PYTHON)' bash scripts/set_up.sh
	@touch $@
