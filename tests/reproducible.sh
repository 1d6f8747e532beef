#!/bin/sh
# The same plans on every Python of 3.11, 3.12 and 3.13 that is here: an environment for each, from the pinned
# requirements and the wheel (WHEEL, else the one in dist/), then one compilation of the golden sources and the examples
# with each, compared byte for byte. Python: those on PATH and those of pyenv. The environments stay in
# .venv-reproducible.
# usage: sh tests/reproducible.sh [WHEEL]
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- dist/*.whl
[ -f "$1" ] || { echo "reproducible: there is no wheel in dist/; tests/run-all.sh builds it" >&2; exit 1; }
wheel=$1
root=$PWD
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
compared=""
for version in 3.11 3.12 3.13; do
    python=""
    for candidate in "python$version" "$HOME"/.pyenv/versions/"$version"*/bin/python; do
        if "$candidate" -c "import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" >/dev/null 2>&1; then
            python=$candidate
            break
        fi
    done
    [ -n "$python" ] || { echo "reproducible: no Python $version here"; continue; }
    venv=.venv-reproducible/$version
    [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint tests/requirements.txt "$wheel"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"
    akmc=$root/$venv/bin/akmc
    mkdir "$out/$version"
    for source in tests/golden/plans/*/workflows/*.* docs/examples/*/workflows/*.*; do
        name=$(printf '%s' "$source" | tr '/' '_')
        (cd "$(dirname "$source")/.." &&
            AKM_CONFIG_DIR=/nonexistent "$akmc" compile "workflows/$(basename "$source")" -o "$out/$version/$name.json" 2>/dev/null)
    done
    if [ -n "$compared" ]; then
        diff -r "$out/$first" "$out/$version" || { echo "reproducible: $version gives other plans than $first" >&2; exit 1; }
        compared="$compared, $version"
    else
        first=$version
        compared=$version
    fi
done
[ -n "$compared" ] || { echo "reproducible: none of Python 3.11, 3.12, 3.13 is here" >&2; exit 1; }
echo "reproducible: $(ls "$out/$first" | wc -l | tr -d ' ') plans are the same bytes on Python $compared"
