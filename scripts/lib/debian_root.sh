# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Fresh Debian roots, for scripts/check_install. All mounts are made in a mount namespace, and all processes in a PID namespace,
# so both end with the command that needed them, however it ends.

debian_release=bookworm

# debian_sources: the archives of the release that this machine's apt uses, as "URI SUITE", one per line.
debian_sources() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(REPO_URI) $(CODENAME)' 'Created-By: Packages' |
    awk -v release="$debian_release" '$1 == "Debian" && $2 == "main" && $4 ~ "^" release { print $3, $4 }' | sort -u
}

# make_base DIR: a minimal system with this machine's apt sources.
make_base() {
  local base="$1" sources mirror
  sources="$(debian_sources)"
  mirror="$(awk -v release="$debian_release" '$2 == release { print $1; exit }' <<<"$sources")"
  if [[ -z "$mirror" ]]; then
    echo "this machine's apt has no archive of Debian $debian_release; add one to /etc/apt and run apt-get update"
    return 1
  fi
  rm -rf "$base.partial"
  unshare --mount debootstrap --variant=minbase "$debian_release" "$base.partial" "$mirror" || return 1
  awk '{ print "deb " $1 " " $2 " main" }' <<<"$sources" >"$base.partial/etc/apt/sources.list"
  # A proxy if there is one, and whether old lists are accepted. A user would type "y"; nobody is here to do so.
  {
    apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-Valid-Until)' || true
    echo 'APT::Get::Assume-Yes "true";'
  } >"$base.partial/etc/apt/apt.conf.d/99check-install"
  rm -rf "$base.partial"/var/cache/apt/archives/*.deb "$base.partial"/var/lib/apt/lists/*
  mv "$base.partial" "$base"
}

# copy_base BASE ROOT. The commands are joined because bash ignores "set -e" in a function that is called in a condition.
copy_base() {
  rm -rf "$2" &&
    cp -a --reflink=auto "$1" "$2" &&
    cp -L /etc/resolv.conf /etc/hosts "$2/etc/"
}

# in_root ROOT FOLDER COMMAND: what bash makes of the command, in that folder of the root, with a plain environment.
in_root() {
  local name keep=()
  for name in http_proxy https_proxy no_proxy; do
    [[ -z "${!name:-}" ]] || keep+=("$name=${!name}")
  done
  unshare --mount --pid --fork --kill-child --mount-proc --root="$1" --wd="$2" \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "${keep[@]}" bash -euo pipefail -c "$3"
}

# files_of ROOT: type, mode, name and link of each file, without what apt and dpkg write about what they have done.
files_of() {
  (cd "$1" && find . -xdev \( \
    -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./zkrecipes -o \
    -path ./var/log -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg/triggers -o \
    -path './var/lib/dpkg/*-old' -o -path './var/lib/dpkg/lock*' \) -prune -o -printf '%y %m %p %l\n' | LC_ALL=C sort)
}
