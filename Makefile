# `make` alone says what there is. Everything is installed into .venv here and nowhere else.

VENV := .venv
BIN := $(VENV)/bin
LOG := $(VENV)/install.log
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
PYTHONS := python3 python3.13 python3.12 python3.11 python3.14
SOURCES := server tests examples scripts

# Two stamps. The first holds the path of this folder: one that was moved is installed again.
INSTALLED := $(VENV)/.installed
DEVELOPER := $(VENV)/.developer

.DEFAULT_GOAL := help
.PHONY: help run test lint docs bench clean FORCE

help: ## this list
	@echo "Pails, a coding agent that lives in a language server."
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(INSTALLED) ## install Pails here if need be, then try it on a small example
	@$(BIN)/python examples/try_it.py

test: $(DEVELOPER) ## run all tests (ARGS="-k name" for some of them)
	@$(BIN)/python -m pytest $(ARGS)

lint: $(DEVELOPER) ## check style and types
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/python -m pyright

docs: $(INSTALLED) ## write docs/protocol.md and the client's wire types anew
	@$(BIN)/python scripts/protocol_docs.py
	@$(BIN)/python -m scripts.wire_types

bench: $(DEVELOPER) ## measure what Pails costs around the model
	@$(BIN)/python -m tests.bench.run

clean: ## remove what make made, .venv included
	@rm -rf $(VENV) dist build .pytest_cache .ruff_cache .hypothesis
	@find $(SOURCES) -name __pycache__ -prune -exec rm -rf {} +

ifneq ($(shell test -x $(BIN)/python && cat $(INSTALLED) 2>/dev/null),$(CURDIR))
$(INSTALLED): FORCE
endif

# $(call quietly,command): its output goes to the log, and is shown only where it fails.
quietly = $(1) >> $(LOG) 2>&1 || { tail -n 15 $(LOG); \
	echo "That failed; all of it is in $(LOG). Nothing outside $(VENV) was changed."; \
	echo "Installing needs a package index within reach. Run make again to try again."; exit 1; }

$(INSTALLED): pyproject.toml
	@for python in $(PYTHONS) none; do \
		"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
	done; \
	if [ "$$python" = none ]; then \
		echo "Pails needs Python 3.11 or newer, and found none. Install one, for example with"; \
		echo "  apt install python3 python3-venv   or   brew install python"; \
		echo "and run make again."; exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
		echo "$$python cannot make virtual environments. On Debian and Ubuntu, run"; \
		echo "  apt install python3-venv"; \
		echo "and run make again."; exit 1; \
	fi; \
	$(BIN)/python -c '' 2>/dev/null || "$$python" -m venv --clear $(VENV) || exit 1; \
	echo "Installing Pails into $(VENV) with $$($(BIN)/python -V), once. About a minute…"
	@: > $(LOG)
	@$(call quietly,$(PIP) install -e .)
	@printf '%s' "$(CURDIR)" > $@
	@echo "Installed."

$(DEVELOPER): pyproject.toml $(INSTALLED)
	@echo "Installing what tests and checks need…"
	@$(call quietly,$(PIP) install --upgrade 'pip>=25.1')
	@$(call quietly,$(PIP) install --group dev)
	@touch $@
