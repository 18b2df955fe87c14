"""The programs under comparison: their command lines, and the verdicts in their output."""

import json
import re


class Ping:
    """One packet in a program's report. `sequence` is as on the wire; `kind` has cpinger's names."""
    __slots__ = ("sequence", "kind", "rtt_ns", "reordered", "count")

    def __init__(self, sequence, kind, rtt_ns=None, reordered=False, count=1):
        self.sequence, self.kind, self.rtt_ns, self.reordered, self.count = sequence, kind, rtt_ns, reordered, count


class Program:
    udp = False
    silent_loss = False  # does not report unanswered pings
    server = None  # command line of the server on the far side

    def pings(self, output):
        return [ping for ping in map(self.read_line, output.splitlines()) if ping]


def milliseconds(text):
    return round(float(text) * 1e6)


class Ours(Program):
    name = "cping"

    def __init__(self, path, raw_sequence=False):
        self.path, self.raw_sequence = path, raw_sequence

    def command(self, target, count, interval_s, timeout_s=1.0, detail=True):
        argv = [self.path, "-c", str(count), "-i", f"{interval_s:g}", "-W", f"{timeout_s:g}"]
        return [*argv, *(["--json"] if detail else []), target]

    def flood(self, count, targets, file):
        # -q as with fping, so that neither prints a line a ping.
        return [self.path, "-q", "-f", "-c", str(count), "-W", "1", *targets]

    def read_line(self, line):
        if not line.startswith("{"):
            return None
        item = json.loads(line)
        kind = item.get("verdict") or item.get("kind") or item.get("event")
        if kind == "corrupt" and "sequence" not in item:
            return Ping(None, kind)  # its ping is unknown
        if not kind or "sequence" not in item:
            return None
        flags = item.get("flags", 0)
        reordered = bool(flags & 16) if isinstance(flags, int) else "reordered" in flags
        sequence = item["sequence"] if self.raw_sequence else item["sequence"] & 0xffff
        return Ping(sequence, kind, item.get("rtt_ns"), reordered or item.get("reordered") is True, item.get("count", 1))

    @staticmethod
    def answered(output):
        """From the summary, in any form."""
        for pattern in (r'"answered":\s*(\d+)', r"(\d+) answered", r"answered[:= ]+(\d+)", r"(\d+) received"):
            found = re.findall(pattern, output)
            if found:
                return sum(map(int, found)) if "summary" not in output else int(found[-1])
        return 0


class Product(Ours):
    """`coverage-probe ping`, which has one pinger a thread."""
    name = "coverage-probe ping --threads 2"

    def flood(self, count, targets, file):
        return [self.path, "ping", "--threads", "2", "-q", "-f", "-c", str(count), "-W", "1", "-F", file]


class OursBound(Ours):
    """The same program, bound to an interface."""
    name = "cping -I"

    def command(self, target, count, interval_s, timeout_s=1.0, detail=True):
        argv = super().command(target, count, interval_s, timeout_s, detail)
        return [*argv[:-1], "-I", "v0", target]


class OursUDP(Ours):
    """The same program with RTR's UDP ping."""
    name = "cping --udp"
    udp = True

    def __init__(self, path, token, port=4440):
        super().__init__(path, raw_sequence=True)
        self.token, self.port = token, port

    def command(self, target, count, interval_s, timeout_s=1.0, detail=True):
        argv = super().command(target, count, interval_s, timeout_s, detail)
        return [*argv[:-1], "--udp", str(self.port), "--token", self.token, target]


class Fping(Program):
    name = "fping"

    def command(self, target, count, interval_s, timeout_s=1.0, detail=True):
        return ["stdbuf", "-oL", "fping"][0 if detail else 2:] + [
            "-c", str(count), "-p", f"{interval_s * 1000:g}", "-t", f"{timeout_s * 1000:g}", target]

    def flood(self, count, targets, file):
        return ["fping", "-q", "-i", "0", "-p", "0", "-t", "500", "-c", str(count), "-f", file]

    def read_line(self, line):
        found = re.search(r": \[(\d+)\], (?:timed out|\d+ bytes, ([\d.]+) ms)", line)
        if found:
            return Ping(int(found[1]), "answered" if found[2] else "lost", milliseconds(found[2]) if found[2] else None)
        found = re.search(r"duplicate for \[(\d+)\]", line)
        return Ping(int(found[1]), "duplicate") if found else None

    @staticmethod
    def answered(output):
        return sum(int(found) for found in re.findall(r"xmt/rcv/%loss = \d+/(\d+)/", output))


class SystemPing(Program):
    name = "ping"
    silent_loss = True

    def command(self, target, count, interval_s, timeout_s=1.0, detail=True):
        # A reply with a flipped time stamp makes it wait very long at the end; the caller must end it.
        return ["stdbuf", "-oL", "ping"][0 if detail else 2:] + [
            "-c", str(count), "-i", f"{interval_s:g}", "-W", f"{timeout_s:g}", target]

    def read_line(self, line):
        found = re.search(r"icmp_seq=(\d+) .*time=([\d.]+) ms(.*DUP)?", line)
        return Ping(int(found[1]), "duplicate" if found[3] else "answered", milliseconds(found[2])) if found else None


class Oping(Program):
    name = "oping"

    def command(self, target, count, interval_s, timeout_s=1.0, detail=True):
        return ["stdbuf", "-oL", "oping"][0 if detail else 2:] + ["-c", str(count), "-i", f"{interval_s:g}", "-w", f"{timeout_s:g}", target]

    def read_line(self, line):
        found = re.search(r"icmp_seq=(\d+) (?:ttl=\d+ time=([\d.]+) ms|timeout)", line)
        if not found:
            return None
        sequence = int(found[1]) - 1  # it prints one more than it sends
        return Ping(sequence, "answered" if found[2] else "lost", milliseconds(found[2]) if found[2] else None)


class Irtt(Program):
    name = "irtt"
    udp = True
    server = ["irtt", "server", "-b", "0.0.0.0:2112", "-b", "[::]:2112", "-i", "0", "-d", "0", "--set-src-ip"]

    def command(self, target, count, interval_s, timeout_s=1.0, detail=True):
        # --tstamp=none: its figure is then from its own send to its own receive, as in the capture.
        host = f"[{target}]" if ":" in target else target
        return ["irtt", "client", "-i", f"{interval_s * 1000:g}ms", "-d", f"{(count - 0.5) * interval_s * 1000:g}ms",
                "--tstamp=none", f"--wait={timeout_s:g}s", "-o", "-", "-Q", host]

    def pings(self, output):
        start = output.find("{")
        if start < 0:
            return []
        result = []
        for trip in json.loads(output[start:]).get("round_trips", []):
            rtt = trip.get("delay", {}).get("rtt")
            result.append(Ping(trip["seqno"], "answered" if trip["lost"] == "false" else "lost", rtt))
        return result
