#!/usr/bin/env bash
# Walks through ragtui in a real terminal (tmux) with a real daemon: a file
# fails, its reason is read, it is mended and retried, searched for, and opened
# in the editor at the line. The frames go into docs/tui.md, each behind its
# "<!-- walk NAME -->"; with OUT=FOLDER into files NAME.txt there instead.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-$PWD/bin}
tmp=$(mktemp -d /tmp/ragtui-walk.XXXXXX)
out=${OUT:-$tmp/frames}
terminal=ragtui-walk-$$
mkdir -p "$out" "$tmp"/home "$tmp"/kbs/{ragd,handbook}

alone() { # with the default settings, whatever this shell's are
  env -i PATH="$PATH" HOME="$tmp/home" XDG_RUNTIME_DIR="$tmp" KB_ROOT="$tmp/kbs" LC_ALL=C.UTF-8 \
    EMBEDDINGS_ENABLED="${EMBEDDINGS_ENABLED:-true}" VISUAL="$tmp/vi" TERM=screen-256color "$@"
}
pane() { env -u TMUX tmux -L "$terminal" "$@"; }
keys() { pane send-keys -t walk "$@"; }
sees() { # waits until the screen shows a text
  local end=$((SECONDS + 60))
  until pane capture-pane -t walk -p | grep -qF -- "$1"; do
    if ((SECONDS > end)); then
      echo "walk: the screen does not show: $1" >&2
      pane capture-pane -t walk -p >&2
      exit 1
    fi
    sleep 0.1
  done
}
frame() { pane capture-pane -t walk -p | sed 's/ *$//' >"$out/$1.txt"; }

cp README.md CONTRIBUTING.md docs/{agents,architecture,settings}.md "$tmp/kbs/ragd"
# A notebook whose download broke off; and the whole of it.
head='{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": ["# Onboarding\n", "\n", "Your first week at the harbour office.\n"]},
  {"cell_type": "markdown", "metadata": {}, "source": ["## Keys\n", "\n", "Ask Nordheim for the keys of the boiler room'
printf '%s' "$head" >"$tmp/kbs/handbook/onboarding.ipynb"
# The editor says how it was called, and ends when a line is read.
printf '#!/bin/sh\necho "editor: vi $*" | sed "s,%s/,~/,"\nread -r _\n' "$tmp" >"$tmp/vi"
chmod +x "$tmp/vi"

alone "$bin/ragd" serve >"$tmp/log" 2>&1 &
daemon=$!
trap 'pane kill-server 2>/dev/null || true; kill "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; rm -rf "$tmp"' EXIT
for _ in $(seq 100); do [ -S "$tmp/ragd/admin.sock" ] && break; sleep 0.1; done

alone tmux -L "$terminal" -f /dev/null new-session -d -s walk -x 100 -y 20 "'$bin/ragtui'; echo left; read -r _"
sees '3 Failed 1'
keys 3
sees 'The file begins'
frame failed
printf '%s.\\n"]}]}\n' "$head" >"$tmp/kbs/handbook/onboarding.ipynb"
keys r
sees 'Nothing has failed'
frame retried
for _ in $(seq 600); do # every chunk has its vector, or needs none
  alone "$bin/ragd" status --json | tr -d ' \n' | grep -q '"backlog":0,' && break
  sleep 0.1
done
keys 4
pane send-keys -t walk -l 'who has the boiler keys'
sees 'onboarding.ipynb'
sees 'Nordheim'
frame searched
keys Enter Enter
sees '▌Onboarding'
frame read
keys e
sees 'editor: vi'
frame opened
keys Enter
sees '▌Onboarding'
keys q
sees 'left'

[ -n "${OUT:-}" ] && exit 0
awk -v frames="$out" '
  /^<!-- walk / { print; name = $3; print "```text"; while ((getline line < (frames "/" name ".txt")) > 0) print line; print "```"; skip = 1; fence = 0; next }
  skip && /^```/ { if (++fence == 2) skip = 0; next }
  !skip { print }
  skip && fence == 0 { print; skip = 0 }
' docs/tui.md >"$tmp/tui.md"
cp "$tmp/tui.md" docs/tui.md
echo docs/tui.md
