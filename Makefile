# Developer tasks. `make test` sets everything up: completely as root on Debian; elsewhere it lists missing programs.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
CONTRACTS := tests/contracts
FOUNDRY := tests/contracts/foundry
WEB := web
MINUTES ?= 10
INSTALL ?=
# Tests without nodes, services and browsers: the pure packages except judges of whole routes, and the rules for every
# change.
QUICK := --ignore tests/core/routing/judges tests/core tests/interface tests/payload/review \
	tests/test_docstrings.py tests/test_kinds.py \
	tests/test_layers.py tests/test_vocabulary.py

.PHONY: help installed prerequisites full-prerequisites bench-prerequisites setup test quick lint types unit check-full fuzz bench bench-quick docs scale web contracts gas mutants markets completions man exactness venues snapshots family clean

# Hundreds of tests start Python, which would otherwise compile the whole program each time.
unexport PYTHONDONTWRITEBYTECODE

# First the programs, then the downloads that need them, in parallel.
ifndef INSTALLING
.NOTPARALLEL:
endif

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

prerequisites: ## Check for the programs the tests need; as root on Debian, install them unless INSTALL=no.
	@PYTHON='$(PYTHON)' INSTALL='$(INSTALL)' scripts/prerequisites

full-prerequisites:
	@PYTHON='$(PYTHON)' INSTALL='$(INSTALL)' FOR=check-full scripts/prerequisites

bench-prerequisites:
	@PYTHON='$(PYTHON)' INSTALL='$(INSTALL)' FOR=bench scripts/prerequisites

setup: ## Install all dependencies into this folder.
	@$(MAKE) --no-print-directory --jobs 4 INSTALLING=1 installed

installed: $(VENV)/.rewritten $(CONTRACTS)/node_modules/.installed $(FOUNDRY)/node_modules/.installed $(WEB)/node_modules/.installed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	@touch $@

# pip would compile in one process, and the libraries' own tests too. A file for another Python does not compile.
$(VENV)/.compiled: $(VENV)/.installed
	-@$(RUN) -m compileall -qq -j 2 -x '/tests/' $(VENV)/lib
	@touch $@

# pytest rewrites assertions when it first imports a test. Each process of `unit` would do that for all of them. Halves:
$(VENV)/.rewritten: $(VENV)/.compiled $(CONTRACTS)/node_modules/.installed $(FOUNDRY)/node_modules/.installed
	@$(RUN) -m pytest --collect-only tests/[a-f]*/ >/dev/null & \
	$(RUN) -m pytest --collect-only tests/[g-z]*/ tests/test_*.py >/dev/null; wait
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

$(WEB)/node_modules/.installed: $(WEB)/package-lock.json
	cd $(WEB) && npm ci
	@touch $@

test: prerequisites lint ## Run all checks: ruff, mypy and pytest.
# mypy runs during the tests, which leave cores idle while they wait; its output follows theirs. A background process
# gets no Ctrl-C.
	@said=$$(mktemp); \
	$(RUN) -m mypy >"$$said" 2>&1 & mypy=$$!; \
	trap 'kill "$$mypy" 2>/dev/null; rm -f "$$said"' EXIT; trap 'exit 130' INT TERM; \
	unit=0; $(MAKE) --no-print-directory unit || unit=$$?; \
	types=0; wait "$$mypy" || types=$$?; \
	cat "$$said"; \
	test "$$unit" = 0 && test "$$types" = 0

quick: lint ## Run the checks without node, service or browser in 90 seconds: style, layers, the pure packages.
	$(RUN) -m pytest -n 2 --dist loadfile $(QUICK)

lint: setup ## Check style and formatting.
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: setup ## Check types.
	$(RUN) -m mypy

unit: setup ## Run the tests, and list the 25 slowest.
# Four processes even on two cores: tests that wait for nodes and servers leave cores idle.
# A file's tests stay in one process and share fixtures. Without compiled files each of them would compile all.
	@$(RUN) -m compileall -q -j 2 swapcli
	$(RUN) -m pytest -n 4 --dist loadfile --durations=25 --durations-min=1

check-full: full-prerequisites lint types $(VENV)/.docs $(VENV)/generators/requirements.txt ## Run all checks for a release in 40 minutes, with slow tests and more examples.
# Processes and files as for `unit`. Series without an end are for fuzz and scale: `tests/examples.py` has the counts.
	HYPOTHESIS_PROFILE=full $(RUN) -m pytest -n 3 --dist loadfile -m "" --timeout 3600 --durations=25 --durations-min=1

fuzz: setup ## Search for failures with new examples and long series, for MINUTES (10). ARGS are passed on.
	$(RUN) -m tests.fuzz --minutes $(MINUTES) $(ARGS)

bench: bench-prerequisites $(VENV)/.installed $(CONTRACTS)/node_modules/.installed ## Run the benchmark in 40 minutes, print its table, write BENCHMARKS.md. ARGS are passed on.
	$(RUN) -m bench $(ARGS)

bench-quick: bench-prerequisites $(VENV)/.installed $(CONTRACTS)/node_modules/.installed ## Run a small benchmark in 5 minutes and print its table. ARGS are passed on.
	$(RUN) -m bench --quick $(ARGS)

docs: $(VENV)/.docs ## Build the documentation in build/docs/html.
	$(RUN) -m tests.generate.site build/docs

web: $(WEB)/node_modules/.installed ## Build the browser version in build/web.
	$(PYTHON) -m web.build build/web

scale: setup ## Kill replicas, Redis and the feeder at random under load, then soak for an hour. ARGS are passed on.
	$(RUN) -m bench.scale $(ARGS)

contracts: setup ## Compile this project's contracts.
	$(RUN) -m tests.contracts.build

gas: setup ## Accept changed gas of the router in its snapshot.
	$(RUN) -m tests.contracts.foundry.forge --match-contract RouterGas

mutants: setup ## Make small changes to the router contract that its tests must detect. ARGS are passed on.
	$(RUN) -m tests.contracts.foundry.mutants $(ARGS)

markets: setup ## Write the embedded markets and their compiled forms.
	$(RUN) -m tests.generate.markets

completions: setup ## Write the command tree, the completion scripts and the example settings.
	$(RUN) -m tests.generate.command_tree
	$(RUN) -m tests.generate.llms_text
	$(RUN) -m tests.generate.example_settings
	$(RUN) -m swapcli completion bash > completions/swapcli.bash
	$(RUN) -m swapcli completion zsh > completions/_swapcli
	$(RUN) -m swapcli completion fish > completions/swapcli.fish

man: setup ## Write the manual page for packages built here.
	$(RUN) -m swapcli.faces.cli.man_page man/swapcli.1

exactness: setup ## Replay the recorded swaps of contracts, and write docs/exactness.md.
	$(RUN) -m tests.generate.exactness

venues: setup ## Write docs/venues.md from the public lists and the definitions.
	$(RUN) -m tests.generate.venues

snapshots: setup ## Accept changed output in the snapshots, the README and its picture.
	UPDATE_SNAPSHOTS=1 $(RUN) -m pytest tests/faces/cli/test_render.py tests/test_docs.py tests/quoting/pictures/test_svg.py \
		tests/quoting/config/test_network_schema.py

family: setup ## Write the skeleton of the pool family NAME, in FOLDER for NETWORK, or in a new PACKAGE: docs/families.md.
	$(RUN) -m tests.generate.family $(NAME) $(if $(FOLDER),--folder $(FOLDER)) $(if $(NETWORK),--network $(NETWORK)) \
		$(if $(PACKAGE),--package $(PACKAGE))
	$(RUN) -m ruff format --quiet swapcli tests $(PACKAGE)

clean: ## Remove everything installed or built in this folder.
	rm -rf $(VENV) $(CONTRACTS)/node_modules $(FOUNDRY)/node_modules $(WEB)/node_modules bench/optimum/peer/node_modules build dist man .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
