#!/bin/sh
# Runs the kernels' tests and the model's on AArch64, under qemu on other
# machines. Needs gcc-aarch64-linux-gnu and qemu-user; skips without them.
set -eu
cd "$(dirname "$0")/../../../.."
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
  if ! command -v $tool >/dev/null; then
    echo "skipped: no $tool"
    exit 0
  fi
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export GOOS=linux GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc
go test -c -o "$out/kernel.test" ./internal/embed/kernel
go test -c -o "$out/embed.test" ./internal/embed
run="qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu"
(cd internal/embed/kernel && $run "$out/kernel.test" -test.v -test.run 'EveryPath|Refused' | grep -E '^(---|ok|PASS|FAIL)')
(cd internal/embed && $run "$out/embed.test" -test.v -test.run 'SelfTestPasses/neon.*false' | grep -E '^ *(---|ok|PASS|FAIL)|cosine')
