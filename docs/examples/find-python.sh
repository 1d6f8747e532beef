# Sourced: sets PYTHON to a Python of 3.11 or newer, or explains what is missing.
if [ -z "${PYTHON:-}" ]; then
    for candidate in python3 python3.13 python3.12 python3.11 python; do
        if "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            PYTHON=$candidate
            break
        fi
    done
fi
if [ -z "${PYTHON:-}" ]; then
    echo "Python 3.11 or newer with the venv module is needed (on Debian: apt-get install python3 python3-venv)" >&2
    exit 1
fi
