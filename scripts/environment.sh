# Sourced by ./scrapersky and ./check: makes .venv hold what locks/$wanted.txt names.
# Uses uv where present; otherwise brings it from the package index into .tools.
set -eu

lock="locks/$wanted.txt"
stamp=".venv/.installed-$wanted"
export UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT="$PWD/.venv" VIRTUAL_ENV="$PWD/.venv"

say() { printf '%s\n' "$*" >&2; }

find_python() {
    for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11; do
        [ -n "$candidate" ] || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    say "ScraperSky needs Python 3.11 or newer, and found none."
    say "Install one, or name it: PYTHON=/path/to/python3.12 $0"
    return 1
}

find_uv() {
    if command -v uv >/dev/null 2>&1; then command -v uv; return; fi
    if [ ! -x .tools/bin/uv ]; then
        say "Getting uv, which installs the rest (once)..."
        "$python" -m venv .tools || {
            say "This Python cannot make a virtual environment: install its venv package"
            say "(on Debian and Ubuntu: apt-get install python3-venv)."
            return 1
        }
        .tools/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9' || {
            rm -rf .tools
            say "The package index did not answer; check the network and try again."
            return 1
        }
    fi
    echo "$PWD/.tools/bin/uv"
}

fresh() { [ -x .venv/bin/scrapersky ] && [ "$stamp" -nt "$lock" ] && [ "$stamp" -nt pyproject.toml ]; }

if ! fresh; then
    python=$(find_python)
    uv=$(find_uv)
    [ -x .venv/bin/python ] || "$uv" venv --quiet --python "$python" .venv
    say "Installing ScraperSky and its dependencies into .venv..."
    "$uv" pip install --quiet --compile-bytecode --require-hashes --requirement "$lock"
    "$uv" pip install --quiet --no-deps --editable .
    touch "$stamp"
fi
