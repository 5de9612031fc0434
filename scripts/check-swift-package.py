#!/usr/bin/env python3
"""Checks what Raycast's builder and macOS need of the capture helper's package.

Reads `swift package dump-package` from standard input. Exactly one executable target, named like the package (the
builder runs the scheme of that name); no remote dependency; the Info.plist linked into the program on macOS, with its
identifier and both usage strings. Exit status 1 with the reason otherwise.
"""

import json
import pathlib
import plistlib
import sys

PLIST = pathlib.Path(__file__).resolve().parent.parent / "extension" / "swift" / "Info.plist"
STRINGS = ("CFBundleIdentifier", "NSMicrophoneUsageDescription", "NSSpeechRecognitionUsageDescription")


def need(holds, what):
    if not holds:
        sys.exit(f"the package of the capture helper: {what}")


package = json.load(sys.stdin)
executables = [target for target in package["targets"] if target["type"] == "executable"]
names = [target["name"] for target in executables]
need(names == [package["name"]], f"exactly one executable target named like the package is needed, not {names}")
need(package["dependencies"] == [], "it has a dependency outside itself")

links = [
    setting
    for setting in executables[0]["settings"]
    if "__info_plist" in json.dumps(setting["kind"]) and str(PLIST.name) in json.dumps(setting["kind"])
]
need(len(links) == 1, "the Info.plist is not linked into the program")
need(links[0].get("condition", {}).get("platformNames") == ["macos"], "the Info.plist is not linked on macOS alone")

with PLIST.open("rb") as file:
    plist = plistlib.load(file)
for key in STRINGS:
    need(isinstance(plist.get(key), str) and plist[key] != "", f"the Info.plist has no {key}")

print(f"{package['name']}: one executable target, no dependency, Info.plist linked on macOS")
