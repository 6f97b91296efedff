#!/usr/bin/env python3
"""Checks a state directory of driver-sync without any code of driver-sync: Python 3.8 or later and its standard library.

    python3 verify.py STATE_DIRECTORY [--head N:SHA256] [--json]

It walks the chain of ledger.db, compares every row that the chain records with its last record, and every file in archive/
with the sha256 in its record. Where zstd is at hand (Python 3.14, or the program "zstd") it also makes the body of each
snapshot again. README.md beside this file says what follows from it. Run it on a copy, or while no agent writes.

Exit codes: 0 nothing was damaged or altered, 65 something was, 64 usage, 78 there is no ledger with a chain.
"""
import argparse
import calendar
import hashlib
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
from urllib.parse import quote

try:
    from compression import zstd  # Python 3.14
except ImportError:
    zstd = None

KEYS = {"push": "id", "approval": "id", "request": "id", "snapshot": "digest"}

def sha256(data):
    return hashlib.sha256(data).hexdigest()

class Damaged(Exception):
    """The first record (its number) or snapshot (its digest) that was damaged or altered."""
    def __init__(self, kind, ident, why):
        self.kind, self.ident, self.why = kind, ident, why

class Chain:
    """What the records say: the last one of each row, and the files that were written for each digest."""
    def __init__(self):
        self.records, self.sha256, self.earlier = 0, "0" * 64, 0
        self.rows, self.files = {}, {}

    def walk(self, db, noted):
        try:
            for n, content, said in db.execute("SELECT n, CAST(content AS BLOB), sha256 FROM chain ORDER BY n"):
                self.take(n, content, said, noted)
        except (sqlite3.Error, LookupError, ValueError, TypeError, AttributeError) as error:
            raise Damaged("record", self.records + 1, "it cannot be read: %s" % error)
        if self.records == 0:
            raise Damaged("record", 1, "it is missing")
        if noted and noted[0] > self.records:
            raise Damaged("record", self.records + 1, "it is missing: the noted head is of record %d" % noted[0])

    def take(self, n, content, said, noted):
        number = self.records + 1
        if n != number:
            raise Damaged("record", number, "it is missing")
        if sha256(self.sha256.encode() + b"\n" + content) != said:
            raise Damaged("record", number, "its content and its sha256 do not belong together")
        if noted and noted[0] == number and noted[1] != said:
            raise Damaged("record", number, "its sha256 is %s and that of the noted head %s" % (said, noted[1]))
        self.note(number, json.loads(content.decode()))
        self.records, self.sha256 = number, said

    def note(self, n, content):
        kind = content["kind"]
        if kind == "begin":
            self.earlier = sum(content["earlier"].values())
            return
        row = content["row"]
        self.rows[(kind, row[KEYS[kind]])] = (n, row, content.get("carried"))
        if kind == "snapshot":
            written = self.files.get(row["digest"], (0, [], 0))[1]
            self.files[row["digest"]] = (n, written + [row["file_sha256"]], row["is_kept"])

    def acknowledged(self):
        """The digests that the service took, each with its newest push."""
        pushes = [row for (kind, _), (_, row, _) in self.rows.items() if kind == "push"]
        return {row["digest"]: row["id"] for row in pushes if row["outcome"] == "acknowledged"}

def plain(value):
    """A value as a record has it: a blob is there with its sha256 and length."""
    return {"sha256": sha256(value), "bytes": len(value)} if isinstance(value, bytes) else value

def carried_by_push(db):
    """What each push carried first: sha256 over length, colon and bytes of each driver and its months."""
    found = {}
    for push, driver, months in db.execute("SELECT push, CAST(driver AS BLOB), months FROM change ORDER BY driver, push"):
        count, digest = found.get(push, (0, hashlib.sha256()))
        digest.update(b"%d:%s%d:%s" % (len(driver), driver, len(months), months))
        found[push] = (count + 1, digest)
    return {push: {"drivers": count, "sha256": digest.hexdigest()} for push, (count, digest) in found.items()}

def check_rows(db, chain):
    """Compares the tables with the chain. The lowest record whose row differs is named."""
    problems, seen = [], set()
    try:
        carried = carried_by_push(db)
        for table, key in KEYS.items():
            cursor = db.execute("SELECT * FROM " + table)
            columns = [column[0] for column in cursor.description]
            for values in cursor:
                row = dict(zip(columns, map(plain, values)))
                name = (table, row.get(key))
                seen.add(name)
                if name not in chain.rows:
                    problems.append((chain.records + 1, "%s %s is in the ledger, and no record says so" % name))
                    continue
                n, said, _ = chain.rows[name]
                for column, value in said.items():
                    if column not in row or row[column] != value or type(row[column]) is not type(value):
                        problems.append((n, "%s %s: %s is not what the record says" % (name + (column,))))
        for name, (n, _, said) in chain.rows.items():
            if name not in seen:
                problems.append((n, "%s %s is not in the ledger any more" % name))
            if name[0] == "push" and carried.pop(name[1], None) != said:
                problems.append((n, "the months that push %s carried first are others" % name[1]))
        problems += [(chain.records + 1, "push %s carried months, and no record has it" % push) for push in carried]
        if not problems:
            problem = db.execute("PRAGMA integrity_check").fetchone()[0]
            if problem != "ok":
                problems.append((chain.records, "the file of the ledger is damaged: %s" % problem))
    except (sqlite3.Error, ValueError, TypeError) as error:
        problems.append((chain.records + 1, "it cannot be read: %s" % error))
    if problems:
        raise Damaged("record", *min(problems, key=lambda problem: problem[0]))

def open_ledger(file, scratch):
    """Reads without writing. Beside a directory that cannot be written SQLite needs a copy."""
    def connect(name):
        db = sqlite3.connect("file:%s?mode=ro" % quote(os.path.abspath(name)), uri=True, isolation_level=None)
        db.text_factory = lambda text: text.decode("utf-8", "replace")
        if sqlite3.sqlite_version_info < (3, 37):
            # It does not know STRICT tables, and reads them all the same when told so.
            db.execute("PRAGMA writable_schema = ON")
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return db
    try:
        return connect(file)
    except sqlite3.OperationalError:
        for suffix in ("", "-wal"):
            if os.path.exists(file + suffix):
                shutil.copy(file + suffix, os.path.join(scratch, "ledger.db" + suffix))
        return connect(os.path.join(scratch, "ledger.db"))

def check_ledger(file, chain, noted):
    with tempfile.TemporaryDirectory() as scratch:
        try:
            db = open_ledger(file, scratch)
        except (sqlite3.Error, ValueError) as error:
            raise Damaged("record", 1, "the ledger cannot be read: %s" % error)
        try:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'chain'").fetchone():
                sys.exit(usage(78, "%s has no chain: the agent that wrote it is older" % file))
            chain.walk(db, noted)
            check_rows(db, chain)
        finally:
            db.close()

def read_blocks(data):
    """The compressed blocks behind the title, each with the length that it has unpacked."""
    at, blocks = 128, []
    while at < len(data):
        packed, unpacked = struct.unpack_from("<II", data, at)
        blocks.append((data[at + 8:at + 8 + packed], unpacked))
        at += 8 + packed
    return blocks

def unpack_blocks(blocks):
    if zstd is not None:
        return [zstd.decompress(packed) for packed, _ in blocks]
    run = subprocess.run(["zstd", "-dcq"], input=b"".join(packed for packed, _ in blocks), capture_output=True)
    if run.returncode != 0:
        raise ValueError(run.stderr.decode("utf-8", "replace").strip() or "it cannot be unpacked")
    at, parts = 0, []
    for _, length in blocks:
        parts.append(run.stdout[at:at + length])
        at += length
    return parts

def varint(data, at):
    value = shift = 0
    while data[at] > 127:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1

def seconds(month, stamp):
    """The moment that stands for a month, counted from year 0."""
    year, index = divmod(month, 12)
    if stamp == "middle":
        return calendar.timegm((year, index + 1, 15, 12, 0, 0))
    first = calendar.timegm((year, index + 1, 1, 0, 0, 0))
    return first if stamp == "start" else first + calendar.monthrange(year, index + 1)[1] * 86400 - 1

def points_of(blob, stamp):
    count, at = varint(blob, 0)
    month, points = 0, []
    for _ in range(count):
        later, at = varint(blob, at)
        length, at = varint(blob, at)
        month += later
        points.append('{"time":"%d","value":"%s"}' % (seconds(month, stamp), blob[at:at + length].decode("ascii")))
        at += length
    return ",".join(points)

def pieces(section):
    at = 0
    while at < len(section):
        (length,) = struct.unpack_from("<I", section, at)
        yield section[at + 4:at + 4 + length]
        at += 4 + length

def body_digest(data):
    """sha256 of the body that was pushed, made again from the file. Every second block says where points came from."""
    blocks = read_blocks(data)
    header, *sections = unpack_blocks(blocks[:1] + blocks[1::2])
    form = json.loads(header.decode())["format"]
    digest = hashlib.sha256(b'{"shouldDeleteMissing":%s,"extDrivers":[' % json.dumps(form["shouldDeleteMissing"]).encode())
    before = ""
    for section in sections:
        parts = list(pieces(section))
        for head, blob in zip(parts[::2], parts[1::2]):
            _, ident, _, path, _ = json.loads(head.decode())
            quoted = re.sub("[\ud800-\udfff]", lambda half: "\\u%04x" % ord(half.group()), json.dumps(ident, ensure_ascii=False))
            text = '%s{"id":%s,"path":%s,"timeSeries":[%s]}' % (before, quoted, path, points_of(blob, form["stamp"]))
            digest.update(text.encode())
            before = ","
    digest.update(b"]}")
    return digest.hexdigest()

def check_snapshot(file, digest, chain, can_unpack):
    if digest not in chain.files:
        return "no record says that it was written"
    if not os.path.exists(file):
        return "its file is missing"
    with open(file, "rb") as opened:
        data = opened.read()
    if sha256(data) not in chain.files[digest][1]:
        return "its file has the sha256 %s, and its record another one" % sha256(data)
    try:
        made = body_digest(data) if can_unpack else digest
    except (ValueError, KeyError, IndexError, struct.error) as error:
        return "it cannot be read: %s" % error
    return None if made == digest else "the body that is made from it has the digest %s" % made

def verify(state, chain, noted, can_unpack):
    """How many snapshots are whole."""
    directory = os.path.join(state, "archive")
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    present = {name[:-len(".snapshot")] for name in names if name.endswith(".snapshot")}
    check_ledger(os.path.join(state, "ledger.db"), chain, noted)
    pushes = chain.acknowledged()
    expected = {digest for digest, (_, _, kept) in chain.files.items() if kept and digest in pushes}
    for digest in sorted(present | expected, key=lambda one: (chain.files.get(one, (chain.records + 1,))[0], one)):
        why = check_snapshot(os.path.join(directory, digest + ".snapshot"), digest, chain, can_unpack)
        if why is not None:
            raise Damaged("snapshot", digest, why + (" (of push %s)" % pushes[digest] if digest in pushes else ""))
    return len(present | expected)

def usage(code, text):
    print("verify.py: " + text, file=sys.stderr)
    return code

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("state", help="the state directory, or a copy of it")
    parser.add_argument("--head", help="a head that was noted, as N:SHA256")
    parser.add_argument("--json", action="store_true")
    parser.error = lambda message: sys.exit(usage(64, message))
    args = parser.parse_args()
    noted = re.fullmatch(r"(\d{1,15}):([0-9a-fA-F]{64})", args.head.strip()) if args.head else None
    if args.head and not noted:
        return usage(64, "%r is no head of a chain: write it as N:SHA256" % args.head)
    if not os.path.exists(os.path.join(args.state, "ledger.db")):
        return usage(78, "there is no ledger in %s" % args.state)
    can_unpack = zstd is not None or shutil.which("zstd") is not None
    chain, found = Chain(), {"ok": True}
    try:
        found["snapshots"] = verify(args.state, chain, noted and (int(noted[1]), noted[2].lower()), can_unpack)
    except Damaged as damaged:
        found.update(ok=False, damaged={"kind": damaged.kind, "id": damaged.ident, "why": damaged.why})
    found.update(head="%d:%s" % (chain.records, chain.sha256), records=chain.records, earlier=chain.earlier, bodies=can_unpack)
    if args.json:
        print(json.dumps(found))
    elif found["ok"]:
        print("records: %d, snapshots: %d, all as they were written" % (found["records"], found["snapshots"]))
        print(found["head"] if can_unpack else "without zstd no body was made again\n" + found["head"])
    else:
        print("%(kind)s %(id)s was damaged or altered: %(why)s" % found["damaged"])
    return 0 if found["ok"] else 65

if __name__ == "__main__":
    sys.exit(main())
