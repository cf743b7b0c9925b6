#!/usr/bin/env bash
# Makes docs/ragtui.svg: the search page of a daemon that has indexed this
# repository's own documentation. The same tree gives the same picture.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-$PWD/bin}
tmp=$(mktemp -d /tmp/ragtui-picture.XXXXXX)
alone() { # with the default settings, whatever this shell's are
  env -i PATH="$PATH" HOME="$tmp/home" XDG_RUNTIME_DIR="$tmp" KB_ROOT="$tmp/kbs" LC_ALL=C.UTF-8 "$@"
}

mkdir -p "$tmp"/home "$tmp"/kbs/{ragd,decisions}
cp README.md CONTRIBUTING.md docs/{agents,architecture,benchmarks,settings}.md "$tmp/kbs/ragd"
cp docs/decisions/*.md "$tmp/kbs/decisions"
# The newest come first in the index; one time for all keeps their order.
find "$tmp/kbs" -type f -exec touch -d '2026-01-01 12:00 UTC' {} +

alone "$bin/ragd" serve >"$tmp/log" 2>&1 &
daemon=$!
trap 'kill "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; rm -rf "$tmp"' EXIT

settled() { # everything is indexed, and every chunk has its vector
  alone "$bin/ragd" status --json 2>/dev/null | tr -d ' \n' | grep -q '"phase":"idle".*"backlog":0,"embedded":[1-9]'
}
for _ in $(seq 120); do
  if settled; then break; fi
  sleep 1
done
settled || { echo "picture: the index did not come to rest; the daemon said:" >&2; tail -5 "$tmp/log" >&2; exit 1; }

alone "$bin/ragtui" --snapshot 116x30 --format svg --query "${QUERY:-what happens when a folder cannot be read?}" >"$tmp/ragtui.svg"
mv "$tmp/ragtui.svg" docs/ragtui.svg
echo "docs/ragtui.svg"
