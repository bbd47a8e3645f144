# One front door: `make` lists what can be done.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
BIN := .venv/bin
WITH_JAVA = JAVA_HOME="$$(scripts/ensure_java.sh)" && export JAVA_HOME &&

.PHONY: help demo test coverage test-kafka test-cluster test-matrix kafka-jars lint types docs-test new-user soak bench bench-peers papers reference requirements clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | while IFS=$$'\t' read -r name text; do printf '  make %-13s %s\n' "$$name" "$$text"; done

demo: .venv/demo.stamp  ## join two streams on Spark and show the rows as they come
	@$(WITH_JAVA) $(BIN)/dovetail demo

test: lint types .venv/dev.stamp  ## everything that must hold: style, types, layers, all tests
	@$(WITH_JAVA) scripts/run_tests.sh

lint: .venv/dev.stamp  ## style, and which layer may import which
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-logo

types: .venv/dev.stamp  ## mypy, strict
	@$(BIN)/mypy

coverage: .venv/dev.stamp  ## which lines and branches the tests without Spark reach; the report is htmlcov/index.html (about 25 minutes)
	@$(BIN)/coverage run --branch --source src/dovetail -m pytest -q -m "not spark and not slow and not kafka and not cluster and not lakes"
	@$(BIN)/coverage html --skip-covered && $(BIN)/coverage report --skip-covered --sort cover | tail -40

new-user:  ## what a newcomer does, in a fresh clone and environment: install, README, tutorial (about two minutes)
	@scripts/new_user.sh

soak: .venv/dev.stamp  ## slow tests: five hundred micro-batches on Spark, killed drivers and executors (about 15 minutes)
	@$(WITH_JAVA) $(BIN)/pytest -m slow

.PHONY: simulate
simulate: .venv/dev.stamp  ## random faults around the operator on Spark, simulated: MINUTES=10 of them, or OPTIONS="--seed 4711"
	@$(BIN)/python -m scripts.simulate $(or $(OPTIONS),--minutes $(or $(MINUTES),10))

.PHONY: mutants
mutants: .venv/dev.stamp  ## small mistakes in a copy of the source, COUNT=300 of them, one at a time: do the tests notice? (about two hours; it can be ended and goes on)
	@$(WITH_JAVA) $(BIN)/python -m scripts.mutants --count $(or $(COUNT),300) $(OPTIONS)

test-kafka: .venv/dev.stamp kafka-jars  ## start a Kafka broker on this machine and join its topics on Spark, killed at many points (about a quarter of an hour)
	@$(WITH_JAVA) PATH="$$JAVA_HOME/bin:$$PATH" $(BIN)/pytest -m kafka

test-cluster: .venv/dev.stamp  ## start a Spark cluster of two workers on this machine, join, and kill one (about two minutes)
	@$(WITH_JAVA) $(BIN)/pytest -m cluster

test-matrix: .venv/dev.stamp  ## Spark 4.0 to 4.3 with the lowest and the newest packages, in .venv-matrix; writes docs/versions.md (OPTIONS=--whole)
	@$(WITH_JAVA) $(BIN)/python -m scripts.test_matrix $(OPTIONS)

SPARK ?= 4.1
.PHONY: test-lakes
test-lakes: .venv/dev.stamp  ## Delta and Iceberg tables with real connectors, on Spark 4.1 in .venv-matrix (SPARK=4.0 or 4.2: another; about five minutes)
	@command -v mvn >/dev/null || { echo "Maven gets the connectors, and there is no 'mvn' here: install it (on Debian and Ubuntu: apt install maven)." >&2; exit 1; }
	@mvn -q -B -f requirements/lakes.xml -Dspark=$(SPARK) dependency:copy-dependencies -DoutputDirectory="$(CURDIR)/.venv/jars/lakes-$(SPARK)"
	@$(WITH_JAVA) LAKE_JARS="$(CURDIR)/.venv/jars/lakes-$(SPARK)" $(BIN)/python -m scripts.test_matrix --only $(SPARK)-newest --lakes

kafka-jars: .venv/jars/kafka-broker.stamp .venv/jars/kafka-connector.stamp  ## get a Kafka broker and Spark's Kafka connector with Maven

docs-test: .venv/dev.stamp  ## run every code block of the README and docs, the examples and the docstrings
	@$(WITH_JAVA) $(BIN)/pytest tests/docs

bench: .venv/dev.stamp  ## Dovetail beside its peers: lists the benchmarks; NAME=equi runs one and says what changed, OPTIONS=--json
	@$(WITH_JAVA) $(BIN)/python -m benchmarks $(NAME) $(OPTIONS)

bench-peers: .venv/dev.stamp  ## the same joins on Dovetail, Spark, Flink, Pathway and DuckDB (about 35 minutes; OPTIONS="--rows 40000" is quick)
	@$(WITH_JAVA) $(BIN)/python -m benchmarks peers --json $(OPTIONS)

.PHONY: site release
site: .venv/dev.stamp  ## build the documentation site into build/site, every link looked up
	@$(BIN)/python -m scripts.build_site

release:  ## build wheel and sdist of this version, check them, run the README from an empty environment; VERSION=0.2.0 sets it
	@scripts/release.sh $(VERSION)

.PHONY: load
load: .venv/dev.stamp  ## the live page watching ten million results in bursts (about three minutes)
	@$(BIN)/python -m benchmarks page $(OPTIONS)

papers: .venv/dev.stamp  ## run the figures of the papers again and write docs/papers
	@$(BIN)/python -m experiments --all --record

reference: .venv/dev.stamp  ## write docs/reference/python.md again from the docstrings
	@$(BIN)/python -m scripts.write_reference

requirements:  ## compile requirements/*.txt again from pyproject.toml and requirements/*.in
	@scripts/compile_requirements.sh

clean:  ## remove the environment and everything generated
	rm -rf .venv .venv-matrix build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis spark-warehouse artifacts
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "Dovetail needs Python 3.11 or newer, and '$(PYTHON)' is not: try make PYTHON=python3.12 (or another that you have)." >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "'$(PYTHON) -m venv' failed: install the venv module of that Python (on Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; }

.venv/jars/%.stamp: requirements/%.xml
	@command -v mvn >/dev/null || { echo "Maven gets these jars, and there is no 'mvn' here: install it (on Debian and Ubuntu: apt install maven)." >&2; exit 1; }
	@echo "Getting the jars of $< with Maven into .venv/jars/$*."
	@rm -rf .venv/jars/$* && mvn -q -B -f $< dependency:copy-dependencies -DoutputDirectory="$(CURDIR)/.venv/jars/$*"
	@touch $@

.venv/%.stamp: requirements/%.txt pyproject.toml | .venv/bin/python
	@echo "Installing requirements/$*.txt into .venv (the first time this takes a few minutes)."
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/$*.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
