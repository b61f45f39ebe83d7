# Everything runs in an environment of its own; nothing has to be installed but Python 3.11 to 3.13.
PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test quick soak lint types contracts check bench dist clean

demo: $(STAMP)  ## load the sample sessions into a throw-away home and open the screen
	$(RUN)/alaya demo

test: $(STAMP)  ## all tests but those that take minutes
	$(RUN)/python -m pytest -n auto --dist=loadscope -m "not soak"

quick: $(STAMP)  ## the tests that take less than a few seconds each
	$(RUN)/python -m pytest -n auto --dist=loadscope -m "not slow and not soak"

soak: $(STAMP)  ## many processes on one home for a minute; prints what each operation took
	$(RUN)/python -m pytest -n 0 -s -m soak

lint: $(STAMP)
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .

types: $(STAMP)
	$(RUN)/mypy

contracts: $(STAMP)
	$(RUN)/lint-imports

check: lint types contracts test

bench: $(STAMP)  ## print the benchmark tables
	$(RUN)/python -m tests.benchmarks

dist: $(STAMP)  ## wheel and sdist
	$(RUN)/python -m build

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --upgrade pip
	$(RUN)/python -m pip install --quiet --editable . --group dev
	touch $(STAMP)

clean:
	rm -rf $(VENV) dist build *.egg-info
