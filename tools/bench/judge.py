"""The judge of counts: the outcome of each ping, from the impairment device's log alone, and how a program's report differs."""

import json
from collections import Counter, defaultdict


def read_log(path):
    with open(path) as file:
        lines = [json.loads(line) for line in file]
    return [line for line in lines if "direction" in line], next((line["summary"] for line in lines if "summary" in line), None)


def head_out(line):
    """The payload's first bytes as sent: the log has the received bytes, and the bit that flipped."""
    head = bytearray.fromhex(line["head"])
    bit = line.get("bit", -1)
    if 0 <= bit < len(head) * 8:
        head[bit // 8] ^= 0x80 >> bit % 8
    return bytes(head)


class Truth:
    """The verdict of each ping: answered, refused, late or lost. `unsure`: corrupt replies that came as the program ended."""

    def __init__(self, lines, timeout_s, protocol, sees_bad_checksums):
        self.timeout_ns = round(timeout_s * 1e9)
        self.protocol, self.sees_bad_checksums = protocol, sees_bad_checksums
        ours = [line for line in lines if line["kind"] in ("echo-request", "echo-reply", "udp") and line["fate"] != "refused"]
        self.requests = {line["sequence"]: line for line in ours if line["direction"] == "up" and line["copy"] == 0}
        down = [line for line in ours if line["direction"] == "down" and line["fate"] == "passed"]
        self.replies = sorted(down, key=lambda line: line["out_monotonic_ns"])
        self.order = sorted(self.requests, key=lambda s: self.requests[s]["in_monotonic_ns"])
        self.last_sent = max(line["in_monotonic_ns"] for line in self.requests.values())
        self.valid = defaultdict(list)
        self.refusals = set()  # RTR: pings whose first reply is RE01, as for a token whose bits flipped
        self.corrupt, self.unsure = 0, 0
        for line in self.replies:
            self.take(line)

    def take(self, line):
        if line["corrupt"] == "detectable" and not self.sees_bad_checksums:
            return  # the pinger's kernel drops it
        sequence = self.carried(line)
        if sequence is not None and line["out_monotonic_ns"] < self.requests[sequence]["in_monotonic_ns"]:
            return  # damaged into the number of a later ping: it answers no ping
        if sequence is not None:
            if self.protocol == "rtr" and head_out(line)[:4] == b"RE01" and not self.valid[sequence]:
                self.refusals.add(sequence)
            self.valid[sequence].append(line["out_monotonic_ns"])
        elif line["out_monotonic_ns"] > self.last_sent + self.timeout_ns * 0.8:
            self.unsure += 1
        else:
            self.corrupt += 1

    def carried(self, line):
        """The ping that the reply answers, or None if it is damaged. An echo reply must carry its request's payload. An RTR
        reply has only magic and sequence: if they are intact, damage cannot be detected."""
        if self.protocol == "rtr":
            head = head_out(line)
            sequence = int.from_bytes(head[4:8], "big")
            return sequence if head[:4] in (b"RR01", b"RE01") and sequence in self.requests else None
        if self.protocol == "irtt":  # its replies' payload is the server's
            head = head_out(line)
            sequence = int.from_bytes(head[12:16], "little")
            return sequence if head[:3] == b"\x14\xa7\x5b" and sequence in self.requests else None
        request = self.requests.get(line["sequence"])
        return line["sequence"] if request and request["hash_in"] == line["hash_out"] else None

    def outcome(self, margin):
        """Verdicts and counts of all pings but the last `margin`, whose late replies may come after the program's end."""
        position = {sequence: i for i, sequence in enumerate(self.order)}
        watched = self.order[:len(self.order) - margin]
        verdicts, counts = {}, Counter()
        for sequence in watched:
            arrivals = self.valid.get(sequence, [])
            sent = self.requests[sequence]["in_monotonic_ns"]
            in_time = bool(arrivals) and arrivals[0] - sent <= self.timeout_ns
            answer = "refused" if sequence in self.refusals else "answered"
            verdicts[sequence] = answer if in_time else "late" if arrivals else "lost"
            counts[verdicts[sequence]] += 1
            counts["duplicate"] += max(0, len(arrivals) - 1)
        firsts = sorted((arrivals[0], position[s], s) for s, arrivals in self.valid.items() if arrivals)
        newest = -1
        for _, place, sequence in firsts:
            if place < newest and sequence in verdicts:
                counts["reordered"] += 1
            newest = max(newest, place)
        counts["sent"] = len(watched)
        counts["corrupt"] = self.corrupt
        return verdicts, counts, set(watched)


def reported(pings, watched, silent_loss=False):
    """The same from a program's report, which has a late ping twice: lost and then late. `silent_loss`: it omits lost pings."""
    verdicts, counts = {}, Counter()
    for ping in pings:
        if ping.kind == "corrupt":
            counts["corrupt"] += 1
        if ping.sequence not in watched:
            continue
        if ping.kind == "duplicate":
            counts["duplicate"] += 1
        elif ping.kind in ("answered", "lost", "late"):
            verdicts[ping.sequence] = ping.kind
        elif ping.kind in ("icmp-error", "refused", "not-sent", "not_sent"):
            verdicts[ping.sequence] = ping.kind
        if ping.reordered and ping.kind in ("answered", "refused", "late"):
            counts["reordered"] += 1
    if silent_loss:
        verdicts.update({sequence: "lost" for sequence in watched - set(verdicts)})
    counts.update(Counter(verdicts.values()))
    counts["sent"] = len(verdicts)
    return verdicts, counts


KINDS = ("sent", "answered", "refused", "late", "lost", "duplicate", "reordered", "corrupt")


def compare(truth, pings, margin, kinds=KINDS, silent_loss=False):
    """{kind: (of the log, of the program)}, the sequences whose verdicts differ, and whether all is equal."""
    verdicts, counts, watched = truth.outcome(margin)
    seen, seen_counts = reported(pings, watched, silent_loss)
    table = {kind: (counts[kind], seen_counts[kind]) for kind in kinds}
    wrong = [(s, verdicts[s], seen.get(s)) for s in verdicts if verdicts[s] != seen.get(s)]
    low, high = counts["corrupt"], counts["corrupt"] + truth.unsure
    equal = not wrong and all(a == b for kind, (a, b) in table.items() if kind != "corrupt")
    if "corrupt" in kinds:
        equal = equal and low <= seen_counts["corrupt"] <= high
    return table, wrong, equal


def miscount(pings):
    """Deliberately wrong reports: the control. Each must be noticed."""
    pings = list(pings)
    for kind in ("answered", "lost", "late", "duplicate", "corrupt"):
        first = next((i for i, ping in enumerate(pings) if ping.kind == kind), None)
        if first is not None:
            yield f"one {kind} is missing", pings[:first] + pings[first + 1:]
    first = next((i for i, ping in enumerate(pings) if ping.kind == "duplicate"), None)
    if first is not None:
        yield "one duplicate is reported twice", pings + [pings[first]]
