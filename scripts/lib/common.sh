# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Shared by the scripts beside this folder: where the project is, and steps that show their progress.

project_root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
script_name="$(basename "$0")"

die() {
  echo "$script_name: $*" >&2
  exit 1
}

# usage_error TEXT: for arguments that the script does not know.
usage_error() {
  echo "$script_name: $* (see --help)" >&2
  exit 2
}

# start_steps LOG_DIR: where the steps' logs go.
start_steps() {
  log_dir="$1"
  mkdir -p "$log_dir"
}

# fail_step NAME LOG: says which step failed and shows the end of its log.
fail_step() {
  local name="$1" log="$2"
  echo "--- the last lines of $log"
  tail -n 40 "$log"
  echo "--- $script_name: step '$name' failed; its log: $log"
}

# step NAME COMMAND...: runs the command with its output in a log. One line of progress.
step() {
  local name="$1" log started
  shift
  log="$log_dir/${name// /-}.log"
  started=$SECONDS
  printf '%-12s ' "$name"
  if "$@" >"$log" 2>&1 </dev/null; then
    printf 'ok  %4d s\n' $((SECONDS - started))
  else
    printf 'FAILED  %d s\n' $((SECONDS - started))
    fail_step "$name" "$log"
    return 1
  fi
}

# configure_and_build PRESET [TARGET...]: configure_options may hold more arguments for the configuration.
configure_options=()
configure_and_build() {
  local preset="$1"
  shift
  step configure cmake --preset "$preset" "${configure_options[@]}" &&
    step build cmake --build --preset "$preset" ${1:+--target "$@"}
}

# cpp_sources [FOLDER...]: the project's own C++ files, also those not yet added to git, one per line.
cpp_sources() {
  local folder present=()
  [[ $# -gt 0 ]] || set -- include connection recipes prometheus testkit tools examples bench tests
  for folder in "$@"; do
    [[ -d "$project_root/$folder" ]] && present+=("$folder")
  done
  [[ ${#present[@]} -eq 0 ]] ||
    (cd "$project_root" && find "${present[@]}" -type f \( -name '*.h' -o -name '*.cpp' \) | LC_ALL=C sort)
}
