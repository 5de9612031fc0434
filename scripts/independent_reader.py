#!/usr/bin/env python3
"""A second reader of the session format, written from the format guide alone and sharing no code with the store.

It proves that the files can be read by any other tool, and it is the example for readers in other languages.

    python3 scripts/independent_reader.py SESSION_FOLDER_OR_LOG     verdict of one session, as one JSON line
    python3 scripts/independent_reader.py --cases fixtures/format/records.json

Exit status: 0 when the session is valid (or every case agrees), 1 when not.
"""
import base64
import calendar
import json
import math
import os
import re
import sys

MAX_RECORD, MAX_DEPTH, MAX_SAFE = 1_048_576, 128, 2**53 - 1
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")
TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|[+-](\d\d):(\d\d))\Z", re.ASCII)
ASSET = re.compile(r"assets/[A-Za-z0-9][A-Za-z0-9._-]{0,254}\Z")
MIME = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(?:\s*;.*)?\Z")
LOW_SURROGATE = re.compile(rb"\\u[dD][c-fC-F][0-9A-Fa-f]{2}")
POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*\Z")
NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
NUMBER_PREFIX = re.compile(rb"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<=[0-9])[eE][+-]?[0-9]*)?)?\Z")


class Bad(Exception):
    """The record breaks the format."""


class Prefix(Exception):
    """The bytes end before the record does."""


# --- JSON, byte by byte -------------------------------------------------------------------------------------------


def scan(data):
    """Raises Bad or Prefix unless data is exactly one JSON value within the depth limit."""
    stack, keys, at, size = [], [], 0, len(data)
    want = "value"
    while True:
        while at < size and data[at] in b" \t\r\n":
            at += 1
        if at == size:
            if want == "end":
                return
            raise Prefix()
        byte = data[at : at + 1]
        if want == "end":
            raise Bad("something follows the record")
        if want in ("key", "key-or-close"):
            if byte == b'"':
                start, at = at, scan_string(data, at)
                key = json.loads(data[start:at])
                if key in keys[-1]:
                    raise Bad("duplicate key")
                keys[-1].add(key)
                want = "colon"
                continue
            if want == "key-or-close" and byte == b"}":
                at, want = at + 1, close(stack, keys)
                continue
            raise Bad("a key is expected")
        if want == "colon":
            if byte != b":":
                raise Bad("a colon is expected")
            at, want = at + 1, "value"
            continue
        if want == "comma":
            if byte == b",":
                at, want = at + 1, "key" if stack[-1] == b"{" else "value"
            elif byte == (b"}" if stack[-1] == b"{" else b"]"):
                at, want = at + 1, close(stack, keys)
            else:
                raise Bad("a comma is expected")
            continue
        # a value
        if not stack and byte != b"{":
            raise Bad("a record is an object")
        if want == "value-or-close" and byte == b"]":
            at, want = at + 1, close(stack, keys)
        elif byte in (b"{", b"["):
            stack.append(byte)
            keys.append(set())
            if len(stack) > MAX_DEPTH:
                raise Bad("too deep")
            at, want = at + 1, "key-or-close" if byte == b"{" else "value-or-close"
        elif byte == b'"':
            at, want = scan_string(data, at), "comma" if stack else "end"
        elif byte in (b"t", b"f", b"n"):
            word = {b"t": b"true", b"f": b"false", b"n": b"null"}[byte]
            part = data[at : at + len(word)]
            if part != word:
                raise Prefix() if at + len(part) == size and word.startswith(part) else Bad("no such word")
            at, want = at + len(word), "comma" if stack else "end"
        else:
            match = NUMBER.match(data, at)
            rest = data[at : at + 400]
            if at + len(rest) == size and NUMBER_PREFIX.match(rest) and rest:
                if stack or not match or match.end() != size:
                    raise Prefix()
            if not match:
                raise Bad("no value")
            at, want = match.end(), "comma" if stack else "end"


def close(stack, keys):
    stack.pop()
    keys.pop()
    return "comma" if stack else "end"


def scan_string(data, at):
    at += 1
    while at < len(data):
        byte = data[at]
        if byte == 0x22:
            return at + 1
        if byte < 0x20:
            raise Bad("raw control character")
        if byte == 0x5C:
            escape = data[at + 1 : at + 2]
            if not escape:
                raise Prefix()
            if escape == b"u":
                digits = data[at + 2 : at + 6]
                if not re.fullmatch(rb"[0-9A-Fa-f]*", digits):
                    raise Bad("bad escape")
                if len(digits) < 4:
                    raise Prefix() if at + 2 + len(digits) == len(data) else Bad("bad escape")
                unit = int(digits, 16)
                if 0xDC00 <= unit <= 0xDFFF:
                    raise Bad("lone surrogate")
                at += 6
                if 0xD800 <= unit <= 0xDBFF:
                    at = scan_low_surrogate(data, at)
                continue
            if escape not in b'"\\/bfnrt':
                raise Bad("bad escape")
            at += 2
            continue
        at += 1
    raise Prefix()


def scan_low_surrogate(data, at):
    """The escape after a high surrogate; what is there of it must be able to become U+DC00 to U+DFFF."""
    rest = data[at : at + 6]
    if LOW_SURROGATE.fullmatch(rest):
        return at + 6
    if len(rest) < 6 and any(LOW_SURROGATE.fullmatch(rest + tail) for tail in (rb"\udc00"[len(rest) :], b"00"[: 6 - len(rest)])):
        raise Prefix()
    raise Bad("lone surrogate")


def pairs(items):
    result = {}
    for key, value in items:
        if key in result:
            raise Bad("duplicate key")
        result[key] = value
    return result


def scalar_text(value):
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if any(0xD800 <= ord(c) <= 0xDFFF for c in item):
                raise Bad("lone surrogate")
        elif isinstance(item, dict):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, float) and not math.isfinite(item):
            raise Bad("not finite")


def parse(data):
    """One record without its LF: the JSON object, or Bad, or Prefix."""
    if len(data) > MAX_RECORD:
        raise Bad("too large")
    if data.endswith(b"\r"):
        raise Bad("CR before LF")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end < len(data) or error.reason != "unexpected end of data":
            raise Bad("not UTF-8")
        scan(data[: error.start])
        raise Prefix()
    scan(data)

    def constant(name):
        raise Bad(name)

    value = json.loads(data, object_pairs_hook=pairs, parse_constant=constant)
    scalar_text(value)
    if not isinstance(value, dict):
        raise Bad("a record is an object")
    return value


# --- What a record says -------------------------------------------------------------------------------------------


def need(condition, what):
    if not condition:
        raise Bad(what)


def text(value, empty=True):
    return isinstance(value, str) and (empty or value != "")


def whole(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return value == int(value) and 0 <= value <= MAX_SAFE


def is_id(value):
    return isinstance(value, str) and ID.match(value) is not None


def is_time(value):
    match = TIME.match(value) if isinstance(value, str) else None
    if not match:
        return False
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= calendar.monthrange(max(year, 1), month)[1]):
        return False
    if match.group(7) and (int(match.group(7)) > 23 or int(match.group(8)) > 59):
        return False
    return hour <= 23 and minute <= 59 and second <= 59


def optional(record, key, check):
    need(key not in record or check(record[key]), key)


def span(record):
    need(("startMs" in record) == ("endMs" in record), "half a range")
    if "startMs" in record:
        need(whole(record["startMs"]) and whole(record["endMs"]) and record["endMs"] > record["startMs"], "range")


def asset(value):
    need(isinstance(value, dict), "asset")
    if value.get("status") == "missing":
        need(text(value.get("reason"), False) and "path" not in value, "missing asset")
        optional(value, "source", lambda v: isinstance(v, dict))
        return
    need(value.get("status") == "available", "asset status")
    need(isinstance(value.get("path"), str) and ASSET.match(value["path"]), "asset path")
    need(isinstance(value.get("mimeType"), str) and MIME.match(value["mimeType"]), "mimeType")
    optional(value, "encoding", lambda v: text(v, False))
    optional(value, "sha256", lambda v: isinstance(v, str) and re.fullmatch(r"[0-9a-f]{64}", v))
    if "byteRange" in value:
        r = value["byteRange"]
        need(isinstance(r, dict) and whole(r.get("start")) and whole(r.get("end")) and r["start"] < r["end"], "byteRange")


def block(value):
    need(isinstance(value, dict) and text(value.get("type"), False), "block")
    kind = value["type"]
    if kind == "text":
        need(text(value.get("text")), "text")
        optional(value, "textSignature", text)
    elif kind == "thinking":
        need(text(value.get("thinking")), "thinking")
        optional(value, "thinkingSignature", text)
        optional(value, "redacted", lambda v: isinstance(v, bool))
    elif kind == "toolCall":
        need(text(value.get("id"), False) and text(value.get("name"), False), "toolCall")
        need(isinstance(value.get("arguments"), dict), "arguments")
        for key in ("thoughtSignature", "namespace", "argumentsError"):
            optional(value, key, text)
    elif kind in ("image", "audio"):
        asset(value.get("asset"))
        if kind == "audio":
            optional(value, "recordingId", is_id)
            span(value)


def usage(value):
    need(isinstance(value, dict), "usage")
    number = lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and v >= 0
    for key in ("input", "output", "cacheRead", "cacheWrite", "cacheWrite1h", "reasoning", "totalTokens"):
        optional(value, key, number)
    if "cost" in value:
        need(isinstance(value["cost"], dict), "cost")
        for key in ("input", "output", "cacheRead", "cacheWrite", "total"):
            optional(value["cost"], key, number)
    return True


def message(value):
    need(isinstance(value, dict) and value.get("role") in ("user", "assistant", "toolResult"), "role")
    need(isinstance(value.get("content"), list), "content")
    for item in value["content"]:
        block(item)
    need(whole(value.get("timestamp")), "timestamp")
    for key in ("api", "provider", "model"):
        optional(value, key, lambda v: text(v, False))
    optional(value, "usage", usage)
    if value["role"] == "assistant":
        optional(value, "stopReason", lambda v: v in ("stop", "length", "toolUse", "error", "aborted"))
        for key in ("errorMessage", "responseId", "responseModel", "rawStopReason", "providerThinkingLevel"):
            optional(value, key, text)
    if value["role"] == "toolResult":
        need(text(value.get("toolCallId"), False) and text(value.get("toolName"), False), "tool result")
        need(isinstance(value.get("isError"), bool), "isError")


def gap(value):
    need(isinstance(value, dict) and text(value.get("reason")), "gap")
    span(value)
    return True


def custom_type(value):
    need(text(value) and 1 <= len(value) <= 256, "customType")


FIELDS = {
    "message": ("message",),
    "custom": ("customType", "data"),
    "custom_message": ("customType", "content", "display", "details"),
    "session_info": ("name", "archived"),
    "label": ("targetId", "label"),
    "model_change": ("provider", "modelId", "api"),
    "api_connection": ("connectionId", "provider", "endpoint", "requestedModel", "api", "originId"),
    "realtime_event": ("connectionId", "direction", "observation", "observedAt", "sequence", "payload",
                       "remoteEventId", "redactions", "media"),
    "recording.started": ("recordingId", "asset"),
    "recording.finished": ("recordingId", "durationMs", "outcome", "gaps"),
    "recording.interrupted": ("recordingId", "reason", "durationMs"),
    "message.removed": ("targetId",),
}


def entry(e):
    kind = e.get("type")
    need(isinstance(kind, str) and kind in FIELDS, "type")
    extra = set(e) - {"type", "id", "parentId", "timestamp"} - set(FIELDS[kind])
    need(not extra, "extra field")
    need(is_id(e.get("id")), "id")
    need("parentId" in e and (e["parentId"] is None or isinstance(e["parentId"], str)), "parentId")
    need(is_time(e.get("timestamp")), "timestamp")
    if kind == "message":
        message(e.get("message"))
    elif kind == "custom":
        custom_type(e.get("customType"))
        need("data" in e, "data")
    elif kind == "custom_message":
        custom_type(e.get("customType"))
        content = e.get("content")
        need(isinstance(content, (str, list)), "content")
        for item in content if isinstance(content, list) else []:
            block(item)
        need(isinstance(e.get("display"), bool), "display")
    elif kind == "session_info":
        optional(e, "name", text)
        optional(e, "archived", lambda v: isinstance(v, bool))
    elif kind == "label":
        need(is_id(e.get("targetId")) and "label" in e and (e["label"] is None or text(e["label"])), "label")
    elif kind == "model_change":
        need(text(e.get("provider"), False) and text(e.get("modelId"), False), "model_change")
        optional(e, "api", lambda v: text(v, False))
    elif kind == "api_connection":
        need(is_id(e.get("connectionId")) and is_id(e.get("originId")), "connection ids")
        for key in ("provider", "requestedModel", "api", "endpoint"):
            need(text(e.get(key), False), key)
    elif kind == "realtime_event":
        need(is_id(e.get("connectionId")) and is_time(e.get("observedAt")) and whole(e.get("sequence")), "observation")
        outgoing = e.get("direction") == "outgoing"
        need(outgoing or e.get("direction") == "incoming", "direction")
        need(e.get("observation") in (("send_attempt", "send_failed") if outgoing else ("received",)), "observation")
        need(isinstance(e.get("payload"), dict), "payload")
        optional(e, "remoteEventId", lambda v: text(v, False))
        optional(e, "redactions", lambda v: isinstance(v, list) and all(text(x) and POINTER.match(x) for x in v))
        need(isinstance(e.get("media", []), list), "media")
        for item in e.get("media", []):
            need(isinstance(item, dict) and text(item.get("path")) and POINTER.match(item["path"]), "media")
            asset(item.get("asset"))
    elif kind == "recording.started":
        need(is_id(e.get("recordingId")), "recordingId")
        asset(e.get("asset"))
        need(e["asset"]["status"] == "available", "asset")
    elif kind == "recording.finished":
        need(is_id(e.get("recordingId")) and whole(e.get("durationMs")), "finished")
        need(e.get("outcome") in ("complete", "incomplete"), "outcome")
        optional(e, "gaps", lambda v: isinstance(v, list) and all(gap(x) for x in v))
    elif kind == "recording.interrupted":
        need(is_id(e.get("recordingId")) and text(e.get("reason"), False), "interrupted")
        optional(e, "durationMs", whole)
    elif kind == "message.removed":
        need(is_id(e.get("targetId")), "targetId")


def read(data):
    """The verdict on the bytes of one log."""
    entries, parents, kinds = 0, {}, {}
    started, ended = set(), set()
    lines = data.split(b"\n")
    tail = lines.pop()
    result = {"verdict": "valid", "recoverable": "no", "committedEntries": 0}

    def one(line, index):
        record = parse(line)
        if index == 0:
            need(record.get("type") == "session" and set(record) == {"type", "version", "id", "timestamp"}, "header")
            need(record["version"] == 1 and not isinstance(record["version"], bool), "version")
            need(is_id(record["id"]) and is_time(record["timestamp"]), "header")
            return
        entry(record)
        need(record["id"] not in parents, "duplicate id")
        need(record["parentId"] is None or record["parentId"] in parents, "parent")
        kind = record["type"]
        if kind == "message.removed":
            at = record["parentId"]
            while at is not None and at != record["targetId"]:
                at = parents[at]
            need(at is not None and kinds[at] in ("message", "custom_message"), "removal")
        if kind == "recording.started":
            need(record["recordingId"] not in started, "started twice")
            started.add(record["recordingId"])
        if kind in ("recording.finished", "recording.interrupted"):
            need(record["recordingId"] not in ended, "ended twice")
            ended.add(record["recordingId"])
        parents[record["id"]] = record["parentId"]
        kinds[record["id"]] = kind

    try:
        for index, line in enumerate(lines):
            result["line"] = index + 1
            try:
                one(line, index)
            except Prefix:
                raise Bad("a complete line is not a complete record")
            result["committedEntries"] = index
        if not lines:
            raise Bad("no header")
        if tail:
            result["line"] = len(lines) + 1
            try:
                one(tail, len(lines))
                result.update(verdict="tail-pending", recoverable="add-newline")
            except Prefix:
                if len(tail) > MAX_RECORD:
                    raise Bad("too large")
                result.update(verdict="tail-pending", recoverable="truncate-fragment")
        else:
            del result["line"]
    except Bad as reason:
        result.update(verdict="not-valid", recoverable="no", reason=str(reason))
    return result


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--cases":
        with open(sys.argv[2], encoding="utf-8") as file:
            cases = json.load(file)
        wrong = 0
        for case in cases:
            got, want = read(base64.b64decode(case["base64"])), case["expected"]
            if (
                (got["verdict"] == "valid") != want["authoritative"]
                or got["recoverable"] != want["recoverable"]
                or got["committedEntries"] != want["committedEntries"]
            ):
                wrong += 1
                print(f"{case['id']} {case['title']}: got {got}, want {want}")
        print(f"{len(cases) - wrong} of {len(cases)} cases agree")
        return 1 if wrong else 0
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    path = sys.argv[1]
    with open(os.path.join(path, "session.jsonl") if os.path.isdir(path) else path, "rb") as file:
        result = read(file.read())
    print(json.dumps(result))
    return 0 if result["verdict"] == "valid" else 1


if __name__ == "__main__":
    sys.exit(main())
