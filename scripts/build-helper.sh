#!/usr/bin/env bash
# Builds the capture helper on a Mac as the extension ships it: both architectures, checked, in place.
#
#   scripts/build-helper.sh          build, check, and copy to extension/assets/compiled_raycast_swift/swift
#   scripts/build-helper.sh --test   the same, after `swift test`
#
# Exit status: 69 when this is no Mac or Xcode's tools are missing, with the reason on stderr.
set -euo pipefail

project="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
package="$project/extension/swift"
target="$project/extension/assets/compiled_raycast_swift/swift"

unavailable() {
  printf 'The capture helper cannot be built: %s\n' "$*" >&2
  exit 69
}

[ "$(uname -s)" = Darwin ] || unavailable "this script is for a Mac; on Linux use scripts/swift-linux.sh."
xcrun --find swift >/dev/null 2>&1 || unavailable "Xcode is missing. Install it, then run: sudo xcode-select -s /Applications/Xcode.app"

cd "$package"
swift package dump-package | python3 "$project/scripts/check-swift-package.py"
if [ "${1:-}" = --test ]; then swift test -c release --disable-swift-testing; fi
swift build -c release --arch arm64 --arch x86_64 --product capture-helper
built="$(swift build -c release --arch arm64 --arch x86_64 --product capture-helper --show-bin-path)/capture-helper"

architectures="$(lipo -archs "$built")"
for wanted in arm64 x86_64; do
  case " $architectures " in
    *" $wanted "*) ;;
    *)
      echo "The helper has no $wanted part (it has: $architectures)." >&2
      exit 1
      ;;
  esac
done
# The usage strings must be inside: a process that asks without them is ended by the system.
if ! otool -P "$built" | grep -q NSMicrophoneUsageDescription; then
  echo "The helper's Info.plist is not embedded." >&2
  exit 1
fi
minimum="$(vtool -show-build "$built" | awk '/minos/ {print $2}' | sort -u | tr '\n' ' ')"

mkdir -p "$(dirname "$target")"
cp -f "$built" "$target"
chmod 755 "$target"
# A copied program needs its signature anew on Apple silicon.
codesign --force --sign - "$target"
"$target" version
echo "built $target ($architectures; macOS ${minimum}and later)"
