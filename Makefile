# Everything a developer does. `make test` sets itself up on a machine with Python 3.11 and Node 20.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
CONTRACTS := tests/contracts
MINUTES ?= 10

.PHONY: help setup test lint types unit check-full fuzz bench contracts completions snapshots clean

help: ## Say what there is.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.installed $(CONTRACTS)/node_modules/.installed ## Install everything into this folder.

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(CONTRACTS)/node_modules/.installed: $(CONTRACTS)/package-lock.json
	cd $(CONTRACTS) && npm ci
	@touch $@

test: lint types unit ## Run all checks: ruff, mypy, pytest.

lint: setup
	$(RUN) -m ruff check .

types: setup
	$(RUN) -m mypy

unit: setup
	$(RUN) -m pytest -n 2

check-full: lint types ## Run all checks with every slow test and the full number of examples.
	HYPOTHESIS_PROFILE=full $(RUN) -m pytest -n 2 -m ""

fuzz: setup ## Search for failures with new examples, for MINUTES; ARGS are passed on.
	$(RUN) -m tests.fuzz --minutes $(MINUTES) $(ARGS)

bench: setup ## Measure routes against the certified optimum; ARGS are passed on.
	$(RUN) -m tests.bench $(ARGS)

contracts: setup ## Compile the project's own contracts anew.
	$(RUN) -m tests.contracts.build

completions: setup ## Write the completion scripts anew.
	$(RUN) -m swapcli.cli.completion_scripts completions

snapshots: setup ## Accept a change of look, in the README too.
	UPDATE_SNAPSHOTS=1 $(RUN) -m pytest tests/cli/test_render.py tests/test_docs.py

clean: ## Remove all that was installed and built here.
	rm -rf $(VENV) $(CONTRACTS)/node_modules build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
