#!/bin/sh
# Runs harness.c under the address and undefined-behaviour sanitizers.
# sanitize.sh [STEP]: lengths 1-34, then every STEP-th up to 512 (default all).
set -eu
cd "$(dirname "$0")"
cc=${CC:-cc}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
if ! echo 'int main(void){return 0;}' | $cc -fsanitize=address,undefined -x c - -o "$out/try" 2>/dev/null || ! "$out/try"; then
  echo "skipped: $cc has no sanitizers here"
  exit 0
fi
$cc -O1 -g -std=c11 -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all \
  harness.c ../*.c -lm -o "$out/harness"
"$out/harness" "${1:-1}"
