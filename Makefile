# Every target sets up what it needs; nothing has to be installed first but Python 3.11–3.13 and make.
PYTHON ?= python3
PORT ?= 8000
KB_WORKERS ?= 2
VENV := .venv
PY := $(VENV)/bin/python
export KB_DATA_DIR ?= $(CURDIR)/var

.PHONY: run dev test lint format bench relevance exactness lock audit torture screenshots

run: $(VENV)/.installed
	$(PY) manage.py migrate --no-input --verbosity 0
	$(PY) manage.py collectstatic --no-input --verbosity 0
	$(PY) manage.py import_library fixtures --if-empty
	$(PY) manage.py welcome --port $(PORT)
	exec $(VENV)/bin/gunicorn --config kb/gunicorn.py --bind 127.0.0.1:$(PORT) --workers $(KB_WORKERS) kb.wsgi

dev: $(VENV)/.installed-dev
	KB_DEBUG=1 $(PY) manage.py migrate --no-input --verbosity 0
	KB_DEBUG=1 $(PY) manage.py import_library fixtures --if-empty
	KB_DEBUG=1 $(PY) manage.py runserver $(PORT)

# One process more than cores: tests wait for servers and browsers.
test: $(VENV)/.installed-dev $(VENV)/.browser $(VENV)/.postgresql
	$(VENV)/bin/pytest -n $$(($$(nproc) + 1)) --maxprocesses 4 --dist loadgroup

lint: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

format: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

# All sizes take hours on two cores; `make bench SIZES=1000` some minutes.
SIZES ?= 1000,10000,100000
bench: $(VENV)/.installed-dev
	$(PY) -m bench --sizes $(SIZES)

relevance: $(VENV)/.installed-dev
	$(PY) -m bench.relevance

# 2,000 queries against a scan of every record, at both sizes; an hour and a half on two cores.
exactness: $(VENV)/.installed-dev
	KB_EXACT_RECORDS=1000 KB_EXACT_QUERIES=2000 $(VENV)/bin/pytest -q -s -n 0 tests/search/test_exactness.py
	KB_EXACT_RECORDS=10000 KB_EXACT_QUERIES=2000 $(VENV)/bin/pytest -q -s -n 0 tests/search/test_exactness.py

# Where the advisories can't be reached, AUDIT_OFFLINE=1 says so instead of failing; a known vulnerability always fails.
audit: $(VENV)/.installed-dev
	@out=$$($(VENV)/bin/pip-audit --require-hashes --disable-pip --progress-spinner off -r requirements.lock 2>&1); status=$$?; \
	echo "$$out" | tail -n 40; \
	if [ $$status -ne 0 ] && [ "$$AUDIT_OFFLINE" = 1 ] && ! echo "$$out" | grep -q "^Found [0-9]"; then \
	  echo "not audited: the advisories can't be reached"; else exit $$status; fi

# A name (kills, load, queries, imports, backup) and a scale: make torture ARGS="kills --scale 0.1"
torture: $(VENV)/.installed-dev
	command -v wrk >/dev/null || { $$(command -v sudo) apt-get update -qq && $$(command -v sudo) apt-get install -y -qq wrk; }
	$(PY) -m tests.torture $(ARGS)

# Needs uv (`pip install uv`); writes what `run` and `test` install, with hashes and without registry addresses.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate -o requirements.lock requirements.in
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate -c requirements.lock -o requirements-dev.lock requirements-dev.in

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.lock | $(VENV)/bin/python
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	touch $@

$(VENV)/.installed-dev: requirements-dev.lock | $(VENV)/bin/python
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-dev.lock
	touch $@ $(VENV)/.installed

# Tests start PostgreSQL servers of their own with Debian's programs; the cluster that the package makes isn't used.
$(VENV)/.postgresql: | $(VENV)/bin/python
	ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || \
	  { $$(command -v sudo) apt-get update -qq && $$(command -v sudo) apt-get install -y -qq --no-install-recommends postgresql; }
	touch $@

# The browser of the tests and the Hangul glyphs it draws come from Debian's packages.
$(VENV)/.browser: | $(VENV)/bin/python
	command -v chromium >/dev/null && fc-list | grep -q NotoSansCJK || \
	  { $$(command -v sudo) apt-get update -qq && $$(command -v sudo) apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk fontconfig; }
	touch $@

# Pictures of every page kind in four windows, to be looked at: `make screenshots OUT=folder`.
OUT ?= $(KB_DATA_DIR)/screenshots
screenshots: $(VENV)/.installed-dev $(VENV)/.browser
	$(PY) -m tests.browser.screenshots $(OUT)
