# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Shared by the tests of the examples and of the comparison. LAUNCHER: what to put in front of each program, from the build.

read -r -a launcher <<<"${LAUNCHER:-}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# need PROGRAM GROUP: fails at once without it; a test that is skipped proves nothing.
need() {
  command -v "$1" >/dev/null || {
    echo "FAILED: no $1 to test with; scripts/setup $2 installs it"
    exit 1
  }
}

# shellcheck disable=SC2034  # for those who source this file
# run COMMAND...: sets status and output (standard output and error).
run() {
  status=0
  output="$("${launcher[@]}" "$@" 2>&1 </dev/null)" || status=$?
}

# expect_line REGEX: a line of the output that matches as a whole.
expect_line() {
  grep -qxE -- "$1" <<<"$output" || fail "no line matches \"$1\" in:
$output"
}

# await SECONDS COMMAND...: until the command succeeds.
await() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [[ $SECONDS -lt $end ]] || return 1
    sleep 0.05
  done
}

finish() {
  [[ $failures -eq 0 ]] || exit 1
}
