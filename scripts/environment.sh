# Sourced by ./scrapersky and ./check: makes .venv hold what locks/$wanted.txt names.
# Uses uv where present; otherwise brings the one of locks/uv.txt, by its hash, into .tools.
set -eu

lock="locks/$wanted.txt"
stamp=".venv/.installed-$wanted"
page=src/scrapersky/ui/.built
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
        .tools/bin/python -m pip install --quiet --disable-pip-version-check \
            --require-hashes --only-binary :all: --requirement locks/uv.txt || {
            rm -rf .tools
            say "uv could not be installed: the lines above say why. Is the package index in reach?"
            return 1
        }
    fi
    echo "$PWD/.tools/bin/uv"
}

fresh() {
    [ -x .venv/bin/scrapersky ] && [ "$stamp" -nt "$lock" ] && [ "$stamp" -nt pyproject.toml ] &&
        [ "$stamp" -nt packages/contact-extraction/pyproject.toml ] &&
        [ "$stamp" -nt packages/curation-sdk/pyproject.toml ] &&
        [ "$stamp" -nt packages/scrapersky-client/pyproject.toml ] &&
        [ "$stamp" -nt packages/simulated-town/pyproject.toml ]
}

# The built page is younger than all it is made from. (Its own stamp decides by content.)
page_fresh() {
    [ -n "${WITHOUT_PAGE:-}" ] && return
    [ -f "$page" ] && [ -z "$(find frontend -name node_modules -prune -o -type f -newer "$page" -print | head -n 1)" ]
}

# An editable install: its hook builds the page, with a Node.js from the package index.
install_ourselves() {
    page_fresh || say "Building the web page (once; a minute on a slow line)..."
    "$uv" pip install --quiet --no-deps --reinstall-package scrapersky \
        --editable packages/contact-extraction --editable packages/curation-sdk \
        --editable packages/scrapersky-client --editable packages/simulated-town --editable . || {
        say "ScraperSky could not be installed: the lines above say why."
        return 1
    }
    # Compiled now, every start is quick, also where Python may not write it down later.
    .venv/bin/python -m compileall -q src/scrapersky packages/*/src
}

if ! fresh || ! page_fresh; then
    python=$(find_python)
    uv=$(find_uv)
fi
if ! fresh; then
    [ -x .venv/bin/python ] || "$uv" venv --quiet --python "$python" .venv
    say "Installing ScraperSky and its dependencies into .venv..."
    "$uv" pip install --quiet --compile-bytecode --require-hashes --requirement "$lock"
    install_ourselves
    touch "$stamp"
elif ! page_fresh; then
    install_ourselves
fi
