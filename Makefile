# make run    the workbench on http://127.0.0.1:8501, with the sample traces verified
# make test   everything that must hold, on a bare machine too
# make check  style, types, architecture, tests

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export HF_HUB_OFFLINE := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: setup run test check lint stress bench browser clean

setup: $(VENV)/.ready

$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, found " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "Setting up $(VENV): about two minutes the first time"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet torch==2.13.0
	@$(BIN)/python -m pip install --quiet -r requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

run: setup
	@$(BIN)/python -m cli.first_start
	@$(BIN)/python -m streamlit run app.py

# Browser tests mostly wait for a browser: two files at a time.
test: setup browser
	@$(BIN)/python -m pytest -n 2 --dist loadfile

check: setup browser lint
	@$(BIN)/python -m pytest -n 2 --dist loadfile

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

stress: setup
	@$(BIN)/python -m pytest -m stress --override-ini addopts="-q --strict-markers --import-mode=importlib"

bench: setup
	@$(BIN)/python bench/pair_reader_bench.py
	@$(BIN)/python bench/threshold_bench.py
	@PYTHONPATH=. $(BIN)/python bench/review_bench.py
	@PYTHONPATH=. $(BIN)/python bench/service_bench.py

# The browser tests need a Chromium; they say so and are skipped where none can be had.
browser:
	@if ! command -v chromium >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 && [ "$$(id -u)" = 0 ]; then \
	  echo "Installing Chromium for the browser tests"; \
	  (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium) >/dev/null 2>&1 || \
	  echo "Chromium could not be installed: the browser tests will say that they were skipped"; fi

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info
