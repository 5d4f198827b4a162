# The same commands for people and for .ci/run. Each sets itself up first: .venv, from $(PYTHON), with pinned tools.
#   make demo     profile an example and show the times beside its lines
#   make test     all tests                   make check    lint, format, types, layering
#   make bench    the benchmarks              make gpu-test all that needs a CUDA GPU
#   make build    wheel and sdist in dist/    make vsix     the VS Code extension in dist/; TARGET=win32-x64 and so on
#   make clean    remove what these commands made, but for .venv

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# npm writes this file last.
NODE_READY := node_modules/.package-lock.json

.PHONY: demo test check bench gpu-test build vsix clean

demo: $(READY)
	@bash scripts/demo.sh

# Tests start interpreters that import torch: one thread each, so that they don't fight over the cores.
test: export OMP_NUM_THREADS = 1
test: $(READY) $(NODE_READY)
	@bash scripts/set_up_browser.sh
	npm run --silent unit
	$(BIN)/python -m pytest -n auto --dist worksteal --durations=15 $(ARGS)

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
	rm -rf dist extension/dist extension/dist-test extension/bundled .coverage .hypothesis .pytest_cache .ruff_cache
	find profiler_core tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(NODE_READY): package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(READY): pyproject.toml constraints-dev.txt
	@PYTHON='$(PYTHON)' bash scripts/set_up.sh
	@touch $@
