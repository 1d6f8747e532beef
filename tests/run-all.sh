#!/bin/sh
# Sets up an environment of its own (.venv-test), builds the wheel and runs every check against it.
set -eu
cd "$(dirname "$0")/.."
. docs/examples/find-python.sh
venv=${AKMC_TEST_VENV:-.venv-test}
jobs=${AKMC_TEST_JOBS:-2}
step() { printf '\n== %s\n' "$*"; }

step "environment"
[ -x "$venv/bin/python" ] || "$PYTHON" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --requirement tests/requirements.txt
bin=$PWD/$venv/bin
case $venv in /*) bin=$venv/bin ;; esac
PATH=$bin:$PATH
export PATH

step "browser"
browser() { [ -n "${AKMC_CHROMIUM:-}" ] || command -v chromium >/dev/null || command -v chromium-browser >/dev/null; }
if ! browser && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    install="env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium"
    $install >/dev/null 2>&1 || { apt-get update -qq && $install >/dev/null; } || true
fi
blind="WARNING: no chromium here: no page was opened in a browser (apt-get install chromium, or set AKMC_CHROMIUM)"
browser && blind=
[ -z "$blind" ] || echo "$blind"

step "wheel"
rm -rf dist
python -m build --no-isolation --wheel --outdir dist . >/dev/null
python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall dist/*.whl

step "format and lint"
ruff format --check --quiet .
ruff check --quiet .
step "types"
mypy
step "import contracts"
lint-imports --no-cache

step "unit, golden, property and real-process tests, against the wheel"
python -m pytest -q -n "$jobs" --dist loadgroup tests

step "the same plans on every Python that is here"
sh tests/reproducible.sh

step "acceptance cases"
python tests/acceptance/check.py

step "the interpreter alone: the wheel with click and msgspec, nothing else"
bare=${AKMC_BARE_VENV:-.venv-bare}
[ -x "$bare/bin/python" ] || "$PYTHON" -m venv "$bare"
"$bare/bin/python" -m pip install --quiet --disable-pip-version-check --constraint tests/requirements.txt click msgspec
"$bare/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall dist/*.whl
python tests/acceptance/check.py --interpreter "$bare/bin" --only run-

step "benchmarks, smoke"
python tests/benchmarks/run.py --smoke

[ -z "$blind" ] || printf '\n== %s\n' "$blind"
