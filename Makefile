# Everything a checkout needs. `make demo` and `make test` set up what is missing themselves.
SHELL := /bin/sh
VENV := .venv
PY := $(VENV)/bin/python
BREAKFIX := $(VENV)/bin/breakfix
STAMP := $(VENV)/.locked
PROVERS := 2

.PHONY: help setup demo test test-all soak models lint format bench prove-full lock wheel clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile

setup: $(STAMP)  ## make .venv with the locked dependencies and breakfix itself

$(STAMP): requirements.lock pyproject.toml .ci/setup-venv
	@sh .ci/setup-venv $(VENV)
	@touch $@

demo: $(STAMP)  ## compile, prove, sign, verify and run the starter pack; ends with the leaderboard page
	@$(BREAKFIX) demo --out build/demo

test: $(STAMP)  ## the default tests: fast, parallel, no engine and no browser
	@$(PY) -m pytest -n auto -q

test-all: $(STAMP)  ## the marked suites too (needs chromium, chromium-driver)
	@$(PY) -m pytest -n auto -q -m 'not soak and not model'

soak: $(STAMP)  ## every hostile input at full length: about a quarter of an hour
	@$(PY) -m pytest -n 2 -q -m soak

models: $(STAMP)  ## a real small model plays; tests/models says what it needs
	@$(PY) -m pytest -n 0 -q -m model

lint: $(STAMP)  ## style, types, import layering
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/mypy benchmarks
	@$(VENV)/bin/lint-imports

format: $(STAMP)  ## rewrite the code in the project's style
	@$(VENV)/bin/ruff check --fix-only .
	@$(VENV)/bin/ruff format .

bench: $(STAMP)  ## figures, each as a ratio against a floor measured in the same run
	@for file in benchmarks/bench_*.py; do echo "== $$file"; $(PY) $$file || exit 1; done

prove-full: $(STAMP)  ## prove all shipped packs on everything they run on, three repeats: hours; goes on where it was stopped
	@for system in web-server edge-control sched-ext-vm; do $(BREAKFIX) image build $$system || exit 1; done
	@for backend in sim container kernel; do for pack in packs/*/scenarios kernel_packs/*/scenarios; do \
	  echo "== $$pack on $$backend"; \
	  $(BREAKFIX) prove $${pack%/scenarios} --backend $$backend --supported --repeats 3 --workers $(PROVERS) --keep build/proofs || exit 1; \
	done; done

lock: $(STAMP)  ## resolve the dependencies anew
	@$(VENV)/bin/uv pip compile pyproject.toml --group dev --extra hosts --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-emit-index-url --no-annotate --quiet --upgrade -o requirements.lock

wheel: $(STAMP)  ## build the wheel into dist/
	@$(VENV)/bin/uv build --wheel --quiet --out-dir dist

clean:  ## remove what the targets above made
	rm -rf build dist $(VENV)
