#!/usr/bin/env bash
# The Swift capture helper on Linux: toolchain, build, tests, and a command that runs the built helper.
#
#   scripts/swift-linux.sh prepare           make the toolchain folder (nothing to do when it is there)
#   scripts/swift-linux.sh build             build the helper (release) and its launcher
#   scripts/swift-linux.sh test [ARGS…]      check the package, swift test of the release build with further arguments
#   scripts/swift-linux.sh --print-command   build when needed; print the absolute path of the launcher, and only that
#
# Where a Swift 6 toolchain is installed, it is used as it is. Elsewhere a Debian 13 folder with Debian's own Swift is
# made below the cache folder (about 90 s and 2.7 GB, once), and Swift runs in it. Its programs need a newer C library
# than Debian 12 has, so the launcher starts the helper through that folder's own loader: no root, no chroot, and
# descriptors pass through.
#
# Environment
#   PERSYK_SWIFT_CACHE   folder of the toolchain and the builds; default <project>/.cache. May be shared by checkouts.
#
# Exit status: that of Swift; 64 wrong usage; 69 the toolchain cannot be prepared here, with the reason on stderr.
set -euo pipefail

project="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
package="$project/extension/swift"
cache="${PERSYK_SWIFT_CACHE:-$project/.cache}"
folder="$cache/trixie"
key="$(printf '%s' "$project" | cksum | cut -d' ' -f1)"
launchers="$cache/capture-helper/$key"
stamp_version=1

say() { printf '%s\n' "$*" >&2; }
unavailable() {
  say "The Swift toolchain cannot be prepared: $*"
  exit 69
}

[ "$(uname -s)" = Linux ] || unavailable "this script is for Linux; on a Mac use scripts/build-helper.sh."

native_swift() {
  command -v swift >/dev/null || return 1
  [[ "$(swift --version 2>/dev/null)" =~ Swift\ version\ ([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge 6 ]
}

# --- the toolchain folder ---------------------------------------------------------------------------------------------

ready() { [ "$(cat "$folder/.toolchain-ready" 2>/dev/null)" = "$stamp_version" ]; }

# Deletes a folder only when nothing is mounted in it: what is mounted there belongs to the running system.
remove_folder() {
  [ -e "$1" ] || return 0
  if awk '{print $2}' /proc/self/mounts | grep -q -F -- "$1/"; then
    unavailable "something is mounted below $1 (see /proc/self/mounts); unmount it, then run this again."
  fi
  rm -rf --one-file-system -- "$1"
}

debian_site() {
  local sites
  sites="$(apt-get indextargets --format '$(LABEL)|$(SITE)' 2>/dev/null | sort -u)"
  printf '%s\n' "$sites" | sed -n 's/^Debian|//p' | head -1 | grep . && return
  printf '%s\n' "$sites" | sed -n 's/^[^|]*|\(.*\/debian\)\/*$/\1/p' | head -1 | grep . && return
  return 1
}

# Runs a command in a mount namespace of its own, so that no mount outlives it, however it ends.
apart() { unshare --mount --propagation private -- "$@"; }

prepare() {
  native_swift && return 0
  ready && return 0
  [ "$(id -u)" = 0 ] || unavailable "making the Debian 13 folder needs root. Run it once as root, or install Swift 6."
  command -v apt-get >/dev/null || unavailable "no apt-get here, and no Swift 6 on PATH."
  local site partial="$folder.partial"
  if ! command -v debootstrap >/dev/null; then
    say "installing debootstrap"
    { apt-get install -y -qq --no-install-recommends debootstrap ||
      { apt-get update -qq && apt-get install -y -qq --no-install-recommends debootstrap; }; } >&2 ||
      unavailable "debootstrap could not be installed from apt's configured site."
  fi
  site="$(debian_site)" || unavailable "apt has no Debian site configured to take Debian 13 from."
  mkdir -p "$cache"
  apart true 2>/dev/null || unavailable "mount namespaces are not allowed here (unshare --mount fails)."
  remove_folder "$partial"
  remove_folder "$folder"
  say "making the Swift toolchain folder $folder from $site (about 90 s, once)"
  if ! apart debootstrap --variant=minbase \
    --include=swiftlang,libc6-dev,libstdc++-14-dev,git,ca-certificates trixie "$partial" "$site" >"$cache/debootstrap.txt" 2>&1; then
    tail -n 5 "$cache/debootstrap.txt" >&2
    unavailable "debootstrap failed; its output is in $cache/debootstrap.txt."
  fi
  rm -rf -- "$partial"/var/cache/apt/archives/*.deb "$partial"/var/lib/apt/lists/* \
    "$partial"/usr/share/doc "$partial"/usr/share/man "$partial"/usr/share/locale
  printf '%s\n' "$stamp_version" >"$partial/.toolchain-ready"
  mv -- "$partial" "$folder"
}

# --- Swift ------------------------------------------------------------------------------------------------------------

# Brings the package into the folder, touching only files that differ, so that builds stay incremental.
sync_package() {
  local target="$1" file
  mkdir -p "$target"
  (cd "$package" && find . -path ./.build -prune -o -type f -print) | while IFS= read -r file; do
    cmp -s "$package/$file" "$target/$file" && continue
    mkdir -p "$target/$(dirname "$file")"
    cp -- "$package/$file" "$target/$file"
  done
  (cd "$target" && find . -path ./.build -prune -o -type f -print) | while IFS= read -r file; do
    [ -e "$package/$file" ] || rm -- "$target/$file"
  done
}

swift_run() { # swift_run SUBCOMMAND ARGS…
  if native_swift; then
    (cd "$package" && swift "$@" --scratch-path "$launchers/build")
    return
  fi
  sync_package "$folder/src/$key"
  # proc is needed: Swift finds its libraries through it. The namespace ends with the command, and the mount with it.
  # shellcheck disable=SC2016
  apart sh -c 'mount -t proc proc "$0/proc" && at="$1" && shift && exec chroot "$0" sh -c '\''
    cd "/src/$0" && HOME=/root LANG=C.UTF-8 PATH=/usr/bin:/bin exec swift "$@"'\'' "$at" "$@"' \
    "$folder" "$key" "$@"
}

build() {
  swift_run build -c release --product capture-helper >&2
  mkdir -p "$launchers"
  if native_swift; then
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$launchers/build/release/capture-helper" >"$launchers/launcher.tmp"
  else
    local loader libraries
    loader="$(find "$folder"/usr/lib/*-linux-gnu* "$folder/usr/lib64" -maxdepth 1 -name 'ld-linux*.so.*' 2>/dev/null | head -1)"
    libraries="$(dirname "$(find "$folder/usr" -name libswiftCore.so | head -1)")"
    libraries="$libraries:$(find "$folder/usr/lib" -maxdepth 1 -type d -name '*-linux-gnu*' | head -1)"
    # The program is copied out of the build folder: a later build never replaces a file that is being run.
    cp -- "$folder/src/$key/.build/release/capture-helper" "$launchers/program.tmp"
    mv -f -- "$launchers/program.tmp" "$launchers/program"
    printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' \
      "$loader" "$libraries" "$launchers/program" >"$launchers/launcher.tmp"
  fi
  chmod 755 "$launchers/launcher.tmp"
  mv -f -- "$launchers/launcher.tmp" "$launchers/capture-helper"
}

run_tests() {
  swift_run package dump-package | python3 "$project/scripts/check-swift-package.py"
  # Every test is an XCTest; a second run of no tests would only say so at the end.
  swift_run test -c release --disable-swift-testing "$@"
}

locked() { # one build or test at a time per cache folder
  mkdir -p "$cache"
  exec 9>"$cache/swift.lock"
  flock 9
  "$@" 9>&-
}

case "${1:-}" in
  prepare) locked prepare ;;
  build)
    locked prepare
    locked build
    ;;
  test)
    shift
    locked prepare
    locked run_tests "$@"
    ;;
  --print-command)
    locked prepare
    locked build
    printf '%s\n' "$launchers/capture-helper"
    ;;
  *)
    sed -n '2,/^set /p' "${BASH_SOURCE[0]}" | sed '$d; s/^# \{0,1\}//' >&2
    exit 64
    ;;
esac
