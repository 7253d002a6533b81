# Tasks of a developer. `make test` sets itself up: as root on Debian completely, elsewhere it says what is missing.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
CONTRACTS := tests/contracts
FOUNDRY := tests/contracts/foundry
MINUTES ?= 10
INSTALL ?=
# Tests without nodes, services and browsers: of the pure packages, and of the rules that every change meets.
QUICK := tests/core tests/interface tests/payload/review tests/test_docstrings.py tests/test_kinds.py \
	tests/test_layers.py tests/test_vocabulary.py

.PHONY: help prerequisites bench-prerequisites setup test quick lint types unit check-full fuzz bench bench-quick docs scale contracts gas mutants markets completions man exactness venues snapshots family clean

# Hundreds of tests start Python, which would compile the whole program again each time.
unexport PYTHONDONTWRITEBYTECODE

# The programs come before what is installed with them.
.NOTPARALLEL:

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

prerequisites: ## Look for the programs that the tests need, and install them as root on Debian, unless INSTALL=no.
	@PYTHON='$(PYTHON)' INSTALL='$(INSTALL)' scripts/prerequisites

bench-prerequisites:
	@PYTHON='$(PYTHON)' INSTALL='$(INSTALL)' FOR=bench scripts/prerequisites

setup: $(VENV)/.installed $(VENV)/generators/requirements.txt $(CONTRACTS)/node_modules/.installed $(FOUNDRY)/node_modules/.installed ## Install all dependencies into this folder.

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/.docs: pyproject.toml $(VENV)/.installed
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

$(VENV)/generators/requirements.txt: tests/faces/service/generated_clients/requirements.txt $(VENV)/.installed
	$(RUN) -m tests.faces.service.generated_clients.environment
	@touch $@

$(CONTRACTS)/node_modules/.installed: $(CONTRACTS)/package-lock.json
	cd $(CONTRACTS) && npm ci
	@touch $@

$(FOUNDRY)/node_modules/.installed: $(FOUNDRY)/package-lock.json
	cd $(FOUNDRY) && npm ci
	@touch $@

test: prerequisites lint ## Run all checks: ruff, mypy and pytest.
# mypy runs beside the tests, which leave cores idle while they wait; what it says comes after them. A process beside
# another gets no Ctrl-C of its own.
	@said=$$(mktemp); \
	$(RUN) -m mypy >"$$said" 2>&1 & mypy=$$!; \
	trap 'kill "$$mypy" 2>/dev/null; rm -f "$$said"' EXIT; trap 'exit 130' INT TERM; \
	unit=0; $(MAKE) --no-print-directory unit || unit=$$?; \
	types=0; wait "$$mypy" || types=$$?; \
	cat "$$said"; \
	test "$$unit" = 0 && test "$$types" = 0

quick: lint ## Run in a minute what needs no node, service or browser: style, layers, and tests of the pure packages.
	$(RUN) -m pytest -n 2 --dist loadfile $(QUICK)

lint: setup ## Check style and formatting.
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: setup ## Check types.
	$(RUN) -m mypy

unit: setup ## Run the tests, and list the 25 slowest.
# Three processes also on two cores: tests that wait for nodes, servers and pauses leave cores idle.
# A file's tests stay in one process, which makes what they share only once.
	$(RUN) -m pytest -n 3 --dist loadfile --durations=25 --durations-min=1

check-full: prerequisites lint types $(VENV)/.docs ## Run all checks in 40 minutes, with the slow tests and more examples. For releases.
# Processes and files as for `unit`. Series without an end are for fuzz and scale: `tests/examples.py` has the counts.
	HYPOTHESIS_PROFILE=full $(RUN) -m pytest -n 3 --dist loadfile -m "" --timeout 3600 --durations=25 --durations-min=1

fuzz: setup ## Search for failures with new examples and long series, for MINUTES (10). ARGS are passed on.
	$(RUN) -m tests.fuzz --minutes $(MINUTES) $(ARGS)

bench: bench-prerequisites $(VENV)/.installed $(CONTRACTS)/node_modules/.installed ## Run the benchmark in 40 minutes, print its table, write BENCHMARKS.md. ARGS are passed on: --help.
	$(RUN) -m bench $(ARGS)

bench-quick: bench-prerequisites $(VENV)/.installed $(CONTRACTS)/node_modules/.installed ## Run a small benchmark in 5 minutes, and only print its table. ARGS are passed on.
	$(RUN) -m bench --quick $(ARGS)

docs: $(VENV)/.docs ## Build the documents as a site, into build/docs/html.
	$(RUN) -m tests.generate.site build/docs

scale: setup ## Kill replicas, Redis and the feeder at random under load, then soak for an hour. ARGS are passed on.
	$(RUN) -m bench.scale $(ARGS)

contracts: setup ## Compile this project's contracts.
	$(RUN) -m tests.contracts.build

gas: setup ## Accept changed gas of the router in its snapshot.
	$(RUN) -m tests.contracts.foundry.forge --match-contract RouterGas

mutants: setup ## Change the router contract in small ways, which its tests must notice. ARGS are passed on.
	$(RUN) -m tests.contracts.foundry.mutants $(ARGS)

markets: setup ## Write the embedded markets and their compiled forms.
	$(RUN) -m tests.generate.markets

completions: setup ## Write the command tree that completion reads, the scripts of the shells and the example settings.
	$(RUN) -m tests.generate.command_tree
	$(RUN) -m tests.generate.llms_text
	$(RUN) -m tests.generate.example_settings
	$(RUN) -m swapcli completion bash > completions/swapcli.bash
	$(RUN) -m swapcli completion zsh > completions/_swapcli
	$(RUN) -m swapcli completion fish > completions/swapcli.fish

man: setup ## Write the manual page, which packages built here then include.
	$(RUN) -m swapcli.faces.cli.man_page man/swapcli.1

exactness: setup ## Replay the recorded swaps of contracts, and write docs/exactness.md.
	$(RUN) -m tests.generate.exactness

venues: setup ## Write docs/venues.md, from the public lists of venues and the definitions.
	$(RUN) -m tests.generate.venues

snapshots: setup ## Accept changed output in the snapshots, the README and its picture.
	UPDATE_SNAPSHOTS=1 $(RUN) -m pytest tests/faces/cli/test_render.py tests/test_docs.py tests/quoting/pictures/test_svg.py

family: setup ## Add the skeleton of the pool family NAME, in FOLDER, to NETWORK: docs/families.md.
	$(RUN) -m tests.generate.family $(NAME) $(if $(FOLDER),--folder $(FOLDER)) $(if $(NETWORK),--network $(NETWORK))
	$(RUN) -m ruff format --quiet swapcli tests

clean: ## Remove everything that was installed or built in this folder.
	rm -rf $(VENV) $(CONTRACTS)/node_modules $(FOUNDRY)/node_modules bench/optimum/peer/node_modules build dist man .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
