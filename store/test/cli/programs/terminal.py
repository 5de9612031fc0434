"""Runs a program in a terminal. Reads one JSON object on standard input:

  argv, cwd, env    what to run, and all of its environment
  piped             which of "stdin", "stdout", "stderr" are pipes and no terminal
  columns           width of the terminal
  keys              pairs of a text and what is typed once that text is on the screen, one after the other

and prints one: exitCode (negative: the signal), screen (all that the terminal got), stdout, stderr (what the pipes got).
"""

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios

asked = json.load(sys.stdin)
piped = asked.get("piped", [])
keys = list(asked.get("keys", []))

terminal, line = pty.openpty()
fcntl.ioctl(line, termios.TIOCSWINSZ, struct.pack("HHHH", 40, asked.get("columns", 100), 0, 0))
program = subprocess.Popen(
    asked["argv"],
    cwd=asked["cwd"],
    env=asked["env"],
    stdin=subprocess.DEVNULL if "stdin" in piped else line,
    stdout=subprocess.PIPE if "stdout" in piped else line,
    stderr=subprocess.PIPE if "stderr" in piped else line,
    start_new_session=True,
    preexec_fn=lambda: fcntl.ioctl(line, termios.TIOCSCTTY, 0),
)
os.close(line)

got = {terminal: b""}
names = {terminal: "screen"}
for name, pipe in (("stdout", program.stdout), ("stderr", program.stderr)):
    if pipe is not None:
        got[pipe.fileno()] = b""
        names[pipe.fileno()] = name

looked_at = 0
open_ends = set(got)
while open_ends:
    for end in select.select(open_ends, [], [])[0]:
        try:
            piece = os.read(end, 65536)
        except OSError:
            # Linux answers EIO when the last program has left the terminal.
            piece = b""
        if piece == b"":
            open_ends.discard(end)
        got[end] += piece
    while keys and keys[0][0].encode() in got[terminal][looked_at:]:
        awaited, typed = keys.pop(0)
        looked_at = got[terminal].index(awaited.encode(), looked_at) + len(awaited.encode())
        os.write(terminal, typed.encode())

answer = {"stdout": "", "stderr": "", "exitCode": program.wait()}
answer.update({names[end]: text.decode("utf-8", "replace") for end, text in got.items()})
if keys:
    answer["missed"] = keys[0][0]
json.dump(answer, sys.stdout)
