#!/bin/sh
# Installs akmc into .venv and takes the bundled example through check, compile, diff and run, on a scratch copy.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/find-python.sh"
venv=$root/.venv
[ -x "$venv/bin/akm-run" ] || {
    [ -x "$venv/bin/python" ] || "$PYTHON" -m venv "$venv"
    echo "installing akmc into .venv ..."
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$root"
}
PATH=$venv/bin:$PATH

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
if [ -n "${NO_COLOR:-}" ] || [ ! -t 1 ]; then say() { printf '\n$ %s\n' "$*"; }; fi
try() { say "$@"; "$@"; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -R "$here/review-changes/." "$scratch"
cd "$scratch"
printf '.akm/\n*.json\n' >.gitignore
git init --quiet .
git add .
git -c user.name=Example -c user.email=example@example.invalid -c commit.gpgsign=false commit --quiet -m "Start"
printf 'def greet(name):\n    return "hello " + name   \n' >greet.py
printf 'A note.\n' >note.txt

try akmc check
try akmc compile workflows/review-changes.md -o old.json
say "sed 's/concurrency: 4/concurrency: 2/; s/timeout: 1m/timeout: 2m/' (an edit to review)"
sed 's/concurrency: 4/concurrency: 2/; s/timeout: 1m/timeout: 2m/' workflows/review-changes.md >edited.tmp
mv edited.tmp workflows/review-changes.md
try akmc compile workflows/review-changes.md -o plan.json
try akmc diff old.json plan.json
try akm-run plan.json

quoted=$(printf '%s' "$venv/bin" | sed "s/'/'\\\\''/g")
cat <<END

That was a scratch copy. To go on with a workflow of your own:
  PATH='$quoted':\$PATH
  mkdir ~/first && cd ~/first
  akmc new hello && akmc compile workflows/hello.md -o plan.json && akm-run plan.json
How workflows are written: $root/docs/language.md
END
