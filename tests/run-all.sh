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
