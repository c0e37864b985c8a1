# moongate: everything a person or CI runs. `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FAST := .compiled
INSTALL := bin/python -m pip --disable-pip-version-check -q install --no-deps
REQ := requirements

.DEFAULT_GOAL := help
.PHONY: help run compiled test check lint types tests tests-compiled coverage docs agents faults soak fuzz format lock sbom clean bench bench-growth bench-peers

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

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

define CAN_COMPILE
import os, shlex, shutil, sys, sysconfig
compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]
headers = os.path.join(sysconfig.get_path("include"), "Python.h")
needs = "make compiled needs a C compiler and Python's headers (Debian: apt install gcc libc6-dev python3-dev); make run works without"
sys.exit(None if shutil.which(compiler) and os.path.exists(headers) else needs)
endef
export CAN_COMPILE

# Nothing is taken away before the new one is built.
$(FAST)/.made: setup.py pyproject.toml $(wildcard $(REQ)/*.txt) $(shell find src -name '*.py')
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "moongate needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	@$(PYTHON) -c "$$CAN_COMPILE"
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

compiled: $(FAST)/.made  ## the same gateway as machine code, a third less CPU: .compiled/bin/moongate (needs gcc)

test: $(VENV)/.dev $(FAST)/.made check  ## set up on a fresh machine, then lint, types and all tests

check: lint types tests tests-compiled  ## the same without the set-up

lint:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types:
	$(BIN)/mypy

tests:
	$(BIN)/pytest -n 2 --dist loadfile

tests-compiled: $(FAST)/.made
	PYTHONPATH=$$($(FAST)/bin/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))') \
	  $(BIN)/pytest -n 2 --dist loadfile --compiled

faults: $(VENV)/.dev  ## every fault of an upstream, at full size, through every front and SDK
	FAULTS=full $(BIN)/pytest -n 2 --dist loadfile tests/faults

agents: $(VENV)/.dev  ## real coding agents from npm through every misbehaviour (ARGS="--agent codex --row ndjson")
	$(BIN)/python -m tests.agents $(ARGS)

soak: $(VENV)/.dev  ## storms, bombs, slow clients, reloads against the gateway as a process; prints what was found
	$(BIN)/python -m tests.soak

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
	cd $(REQ) && for name in runtime build compiler dev; do \
	  uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	    --no-annotate --only-binary :all: --upgrade $$name.in -o $$name.txt; done

sbom:  ## the bill of materials, from the lock files, as dist/sbom.json (CycloneDX)
	@mkdir -p dist
	$(PYTHON) requirements/sbom.py > dist/sbom.json

clean:  ## remove what the targets above made
	rm -rf $(VENV) $(FAST) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage build dist

bench: $(VENV)/.runtime $(FAST)/.made  ## CPU, latency, throughput and memory beside nginx and the peers; writes bench/results
	@mkdir -p bench/results
	$(BIN)/python -m bench.run --json bench/results/bench.json --chart bench/results/bench.svg

bench-growth: $(VENV)/.runtime $(FAST)/.made  ## cost against concurrency, history, chunk size, chunks per read
	@mkdir -p bench/results
	$(BIN)/python -m bench.growth --json bench/results/growth.json --charts bench/results

bench-peers:  ## install the peers into a cache folder outside the repository
	bench/peers.sh
