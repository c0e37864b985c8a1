# moongate: everything a person or CI runs. `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FAST := .compiled
INSTALL := bin/python -m pip --disable-pip-version-check -q install --no-deps
REQ := requirements
SOURCES := $(shell find src -name '*.py')
SYSTEM_PACKAGES := tests/support/system_packages.py
PROCESSES := 2
PYTEST_CACHE := .pytest_cache
IN_CACHE := -o cache_dir=$(PYTEST_CACHE)
PYTEST = $(BIN)/pytest $(IN_CACHE) -n $(PROCESSES) --dist loadfile --no-loadscope-reorder
VECTORS := $(wildcard tests/test_vectors_*.py)
CORE_TESTS := $(addprefix tests/,wire chat kimi transformers pipeline dialects fast test_payload.py test_cases.py test_recordings.py)
# Containers often set this. Then every process that a test starts would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run compiled test test-all check system-packages lint types types-and-machine-code tests tests-beyond-core tests-full \
  tests-plain tests-plain-short tests-compiled tests-compiled-short test-core test-sdks test-sdks-full test-site coverage dist docs site agents faults kvv soak fleet fuzz \
  format lock sbom clean bench bench-growth bench-peers

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "moongate needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: $(BIN)/python $(REQ)/runtime.txt $(REQ)/build.txt pyproject.toml
	$(VENV)/$(INSTALL) --require-hashes -r $(REQ)/runtime.txt -r $(REQ)/build.txt
	$(VENV)/$(INSTALL) --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime $(REQ)/dev.txt
	$(VENV)/$(INSTALL) --require-hashes -r $(REQ)/dev.txt
	@touch $@

# Nothing is taken away before the new one is built.
$(FAST)/.made: setup.py pyproject.toml $(wildcard $(REQ)/*.txt) $(SOURCES)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "moongate needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	@$(PYTHON) $(SYSTEM_PACKAGES) require gcc
	test -x $(FAST)/bin/python || $(PYTHON) -m venv $(FAST)
	$(FAST)/$(INSTALL) --require-hashes -r $(REQ)/runtime.txt -r $(REQ)/build.txt -r $(REQ)/compiler.txt
	@echo "compiling moongate: one to two minutes"
	@rm -rf build/lib.* build/wheel
	MOONGATE_COMPILED=1 $(FAST)/bin/python -m pip --disable-pip-version-check -q wheel --no-deps --no-build-isolation -w build/wheel .
	$(FAST)/$(INSTALL) --force-reinstall build/wheel/*.whl
	@touch $@

# Whoever has compiled it once gets it compiled, and up to date.
RUN := $(if $(wildcard $(FAST)/.made),$(FAST),$(VENV))

run: $(if $(filter $(FAST),$(RUN)),$(FAST)/.made,$(VENV)/.runtime)  ## set up and start the gateway (config.json, else the built-in simulator; ARGS="--port 3001")
	@exec $(RUN)/bin/moongate serve $(ARGS)

compiled: $(FAST)/.made  ## the same gateway as machine code, about a fifth less CPU: .compiled/bin/moongate (needs gcc)

test: system-packages  ## set up, then every kind of test, some of them short: about eight minutes on two quiet cores once set up
	@$(MAKE) --no-print-directory $(VENV)/.dev
	@$(BIN)/python -m tests.suite short

test-all: system-packages  ## everything at full length: more than an hour (MINUTES=30: as much as fits)
	@$(MAKE) --no-print-directory $(VENV)/.dev
	@$(BIN)/python -m tests.suite full $(if $(MINUTES),--minutes $(MINUTES))

check:  ## make test without the set-up
	@$(BIN)/python -m tests.suite short

# Only CI installs system packages. On a person's machine the tests that need one are skipped, with the reason.
system-packages:
	@if [ "$$CI" = true ]; then $(PYTHON) $(SYSTEM_PACKAGES) install; else $(PYTHON) $(SYSTEM_PACKAGES) missing; fi

lint:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -m tests.yardstick

types:
	$(BIN)/mypy

types-and-machine-code:
	@$(MAKE) --no-print-directory -j2 types $(if $(shell $(PYTHON) $(SYSTEM_PACKAGES) has gcc),,$(TEST_CODE)/.made)

tests: $(VENV)/.dev
	$(PYTEST)

# What `make test-core` runs needs not be run twice in `make test`. Tests of real processes mostly wait, so there are more
# test processes than processors.
tests-beyond-core: PROCESSES := 4
tests-beyond-core: $(VENV)/.dev
	$(PYTEST) $(addprefix --beyond-core=,$(CORE_TESTS) $(VECTORS))

tests-full: $(VENV)/.dev
	TEST_LENGTH=full $(PYTEST)

tests-plain: $(VENV)/.dev  ## all tests with the fast path switched off
	MOONGATE_FAST=0 $(PYTEST)

# What MOONGATE_FAST switches nothing in. The loops of test_sdk_loops.py are those of test_tool_loops.py.
NEVER_FAST := admin config inspect limits record routing shared store trace ui server/test_run.py server/test_workers.py \
  test_amplification.py test_sdk_loops.py

# Two processes would collect all tests twice; other steps run beside these two.
tests-plain-short tests-compiled-short: PROCESSES := 0

tests-plain-short: $(VENV)/.dev
	TEST_LENGTH=brief MOONGATE_FAST=0 $(PYTEST) $(addprefix tests/,pipeline dialects gateway) $(VECTORS) \
	  $(addprefix --ignore=tests/gateway/,$(NEVER_FAST))

tests-compiled: $(VENV)/.dev $(FAST)/.made  ## tests of the compiled modules over what make compiled has built
	PYTHONPATH=$$($(FAST)/bin/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))') \
	  TEST_LENGTH=full $(PYTEST) --compiled

# The same C code without optimisation: compiled in a fifth of the time.
TEST_CODE := build/tests
$(TEST_CODE)/.made: $(VENV)/.dev setup.py $(SOURCES)
	@rm -rf $(TEST_CODE)/lib
	MOONGATE_COMPILED=1 MOONGATE_OPTIMISATION=0 $(BIN)/python setup.py -q build \
	  --build-lib $(TEST_CODE)/lib --build-temp $(TEST_CODE)/objects
	@touch $@

tests-compiled-short: $(VENV)/.dev
	@if $(BIN)/python $(SYSTEM_PACKAGES) has gcc; then \
	  $(MAKE) --no-print-directory $(TEST_CODE)/.made && TEST_LENGTH=brief PYTHONPATH=$(CURDIR)/$(TEST_CODE)/lib $(PYTEST) --compiled; \
	elif [ "$$CI" = true ]; then exit 1; fi

# An environment with orjson and pytest, and nothing else.
CORE := build/core
$(CORE)/.made: $(REQ)/core.txt
	$(PYTHON) -m venv --clear $(CORE)
	$(CORE)/$(INSTALL) --require-hashes -r $(REQ)/core.txt
	@touch $@

test-core: $(CORE)/.made  ## tests of the core in an environment that has only orjson and pytest
	PYTHONPATH=src $(CORE)/bin/python -m pytest $(IN_CACHE) $(CORE_TESTS) $(VECTORS)

# Agent frameworks bring many packages, and another openai: an environment of their own.
SDKS := build/sdks
$(SDKS)/.made: $(REQ)/sdks.txt
	$(PYTHON) -m venv --clear $(SDKS)
	$(SDKS)/$(INSTALL) --require-hashes -r $(REQ)/sdks.txt
	@touch $@

test-sdks: $(SDKS)/.made  ## the transports and the LiteLLM hook with real agent frameworks and LiteLLM's proxy
	PYTHONPATH=src $(SDKS)/bin/python -m pytest $(IN_CACHE) -W default tests/sdks

test-sdks-full: $(SDKS)/.made
	TEST_LENGTH=full PYTHONPATH=src $(SDKS)/bin/python -m pytest $(IN_CACHE) -W default tests/sdks

# Tools that build and check what is published.
DIST_TOOLS := build/dist-tools
$(DIST_TOOLS)/.made: $(REQ)/dist.txt
	@$(PYTHON) $(SYSTEM_PACKAGES) require gcc
	$(PYTHON) -m venv --clear $(DIST_TOOLS)
	$(DIST_TOOLS)/$(INSTALL) --require-hashes -r $(REQ)/dist.txt
	@touch $@

dist: $(DIST_TOOLS)/.made  ## sdist, pure wheel and compiled wheel in dist/: built, checked, each installed and tried (needs gcc)
	PYTHONPATH=src $(DIST_TOOLS)/bin/python tests/dist.py

SITE := build/site-tools
$(SITE)/.made: $(REQ)/site.txt
	$(PYTHON) -m venv --clear $(SITE)
	$(SITE)/$(INSTALL) --require-hashes -r $(REQ)/site.txt
	@touch $@

site: $(SITE)/.made  ## the documentation as a site in build/site: strict links, search that works offline
	@NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --quiet --strict
	@echo "built: build/site/index.html"

test-site: $(VENV)/.dev site  ## build the site, then test it in a browser without a network
	MOONGATE_SITE=$(CURDIR)/build/site $(BIN)/pytest $(IN_CACHE) tests/site

faults: $(VENV)/.dev  ## every fault of an upstream, at full size, through every front and SDK
	TEST_LENGTH=full $(PYTEST) tests/faults

agents: $(VENV)/.dev  ## real coding agents from npm through every misbehaviour (ARGS="--agent codex --row ndjson")
	$(BIN)/python -m tests.agents $(ARGS)

kvv: $(VENV)/.dev  ## a checkout of Kimi-Vendor-Verifier against gateway and simulator, as a table (DIR=path, ARGS="--suite params")
	$(BIN)/python -m tests.contract.kvv $(DIR) $(ARGS)

soak: $(VENV)/.dev  ## storms, bombs, slow clients, reloads against the gateway as a process; prints what was found
	$(BIN)/python -m tests.soak

fleet: $(VENV)/.dev  ## two gateways in network namespaces behind nginx: exact limits, drills, 10 minutes with everything dying (root)
	$(BIN)/python -m tests.fleet --json bench/results/fleet.json
	$(BIN)/python -m docs.generate

fuzz: $(VENV)/.dev  ## 100 000 runs of atheris for every decoder, parser and loader, with long inputs
	$(BIN)/python -m tests.fuzz

coverage: $(VENV)/.dev  ## each pure module must be covered, every branch, by its own test file
	$(BIN)/python -m tests.own_coverage

docs: $(VENV)/.dev  ## write the generated tables of docs/ anew
	$(BIN)/python -m docs.generate

format:  ## format the code and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock:  ## renew the hash-locked requirements (needs uv)
	cd $(REQ) && for name in runtime build compiler dev core postgres sdks dist site; do \
	  uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	    --no-annotate --only-binary :all: --upgrade $$name.in -o $$name.txt; done

sbom:  ## the bill of materials, from the lock files, as dist/sbom.json (CycloneDX)
	@mkdir -p dist
	$(PYTHON) requirements/sbom.py > dist/sbom.json

clean:  ## remove what the targets above made
	rm -rf $(VENV) $(FAST) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage build dist

bench: $(VENV)/.runtime $(FAST)/.made  ## an agent's turn, requests and chunks beside nginx and the peers; what each feature costs; writes bench/results
	@mkdir -p bench/results
	$(BIN)/python -m bench.run --minutes 9 --json bench/results/bench.json --chart bench/results/bench.svg
	$(BIN)/python -m bench.costs --rounds 3 --json bench/results/costs.json
	$(BIN)/python -m docs.generate

bench-growth: $(VENV)/.runtime $(FAST)/.made  ## cost against the size of a turn, concurrency, history, chunk size, chunks per read
	@mkdir -p bench/results
	$(BIN)/python -m bench.growth --json bench/results/growth.json --charts bench/results
	$(BIN)/python -m docs.generate

bench-peers:  ## install the peers into a cache folder outside the repository
	bench/peers.sh
