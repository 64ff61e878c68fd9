# SPDX-License-Identifier: Apache-2.0
# Completion of zklock for bash. Paths and nodes are not completed: that would ask the servers at each key.

_zklock() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="" command="" word index
  local commands="run ls tree revoke break check doctor"
  local common="--servers --timeout --auth-file --quiet --verbose --help"
  COMPREPLY=()
  ((COMP_CWORD > 0)) && previous="${COMP_WORDS[COMP_CWORD - 1]}"
  # bash splits "--on-lost=te" into three words.
  [[ "$current" == "=" ]] && current=""
  [[ "$previous" == "=" ]] && previous="${COMP_WORDS[COMP_CWORD - 2]}"

  for ((index = 1; index < COMP_CWORD; ++index)); do
    word="${COMP_WORDS[index]}"
    if [[ -z "$command" ]]; then
      command="$word"
    elif [[ "$command" == run && "$word" == -- ]]; then
      # The rest is a command line of its own.
      if declare -F _command_offset >/dev/null; then
        _command_offset $((index + 1))
      elif ((COMP_CWORD == index + 1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
      fi
      return
    fi
  done

  case "$previous" in
    --on-lost)
      mapfile -t COMPREPLY < <(compgen -W "term kill ignore" -- "$current")
      return
      ;;
    --auth-file)
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    --servers | --timeout | --wait | -w | --limit | --hold-at-least | --kill-after | --permits | -N | --identity | --note | \
      --conflict-exit-code | -E | --interval | --max-nodes | --if-token | --token | --at)
      return
      ;;
  esac

  local options
  case "$command" in
    "") options="$commands --help --version" ;;
    run)
      options="--shared --permits --simple --private --nonblock --wait --conflict-exit-code --limit --hold-at-least --on-lost
        --kill-after --identity --note -- $common"
      ;;
    ls) options="--json --watch --interval $common" ;;
    tree) options="--json --max-nodes $common" ;;
    revoke) options="$common" ;;
    break) options="--if-token $common" ;;
    check) options="--token $common" ;;
    doctor) options="--at --json $common" ;;
    *) return ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
}

complete -F _zklock zklock
