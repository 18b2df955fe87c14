"""Broken and healed networks: the time from recovery to the first answered ping, ours beside the peers. Each program runs in its own
pair, all at once. A ping counts if its reply passed the pinger's interface after the recovery and the program reports it as
answered (or as refused: an RTR token is bound to the earlier address). Recovery is the end of the last healing command; if carriers
change, it is when the kernels of both sides have noticed (within a second) and the near one has resolved the far side's address
again (it asks once a second). The pinger influences neither."""

import concurrent.futures
import contextlib
import statistics
import subprocess
import time

from capture import Capture
from measures import serve
from programs import Ours, OursBound
from running import Running
from spaces import Pair, inside, ip

INTERVAL_S, BEFORE_S, BROKEN_S, AFTER_S = 0.1, 1.5, 1.5, 4.0
GOAL_MS = INTERVAL_S * 1000 + 20
FIREWALL = "nft add table inet cut ; add chain inet cut output { type filter hook output priority 0 ; policy drop ; }"


class Event:
    """`prepare` may change pair.far4, the target. `heal` returns the time of the recovery, unless that is now. `error`: the error that our
    program must report for sending; without it, the event did not happen as named."""
    error, is_for_bound = None, True

    def prepare(self, pair):
        pass


class Commands(Event):
    """Breaks and heals by ip or tc, in namespace a or b."""

    def __init__(self, name, breaking, healing, side="a", error=None):
        self.name, self.breaking, self.healing, self.side, self.error = name, breaking, healing, side, error
        self.is_for_bound = not breaking[0].startswith("ip route")

    def run(self, pair, commands):
        for command in commands:
            with inside(getattr(pair, self.side)):
                subprocess.run(command.split(), check=True, capture_output=True)

    def break_it(self, pair, program):
        self.run(pair, self.breaking)

    def heal(self, pair, program):
        self.run(pair, self.healing)


def settle(pair):
    """Waits for the kernels, 2 s at most. If no packet of a pinger makes the kernel ask for the address, the
    recovery is when both sides were up."""
    up_ns = time.time_ns()
    for _ in range(400):
        sides = [" state UP " in ip("-n", name, "link", "show", "dev", "v0").stdout for name in (pair.a, pair.b)]
        up_ns = up_ns if all(sides) else time.time_ns()
        neighbours = ip("-n", pair.a, "neigh", "show", pair.far4).stdout
        if all(sides) and any(state in neighbours for state in ("REACHABLE", "STALE", "DELAY", "PROBE")):
            return time.time_ns()
        if time.time_ns() - up_ns > 2e9:
            break
        time.sleep(0.005)
    return up_ns


class Carrier(Commands):
    def heal(self, pair, program):
        super().heal(pair, program)
        return settle(pair)


class InterfaceReplaced(Event):
    name = "interface gone, back with another index"

    def break_it(self, pair, program):
        ip("-n", pair.a, "link", "del", "v0")

    def heal(self, pair, program):
        pair.add_veth("v0")
        pair.add_addresses("v0")
        return settle(pair)


class DefaultRouteMoved(Event):
    name = "default route moved to another interface and source"

    def prepare(self, pair):
        pair.far4 = "10.99.0.1"
        pair.add_veth("v1")
        ip("-n", pair.a, "addr", "add", "10.78.0.1/24", "dev", "v1")
        ip("-n", pair.b, "addr", "add", "10.78.0.2/24", "dev", "v1")
        ip("-n", pair.b, "addr", "add", "10.99.0.1/32", "dev", "lo")
        ip("-n", pair.a, "route", "add", "default", "via", "10.77.0.2")

    def break_it(self, pair, program):
        ip("-n", pair.a, "route", "del", "default")

    def heal(self, pair, program):
        ip("-n", pair.a, "route", "add", "default", "via", "10.78.0.2")


class ServerRestarted(Event):
    """For echo the far kernel stops answering; UDP servers end, so that port unreachable comes back, and start again."""
    name = "server gone and back"

    def ignore_echo(self, pair, value):
        with inside(pair.b), open("/proc/sys/net/ipv4/icmp_echo_ignore_all", "w") as file:
            file.write(value)

    def break_it(self, pair, program):
        if program.udp:
            pair.stop(pair.processes[0])
        else:
            self.ignore_echo(pair, "1")

    def heal(self, pair, program):
        if program.udp:
            serve(pair, program, self.setup)
        else:
            self.ignore_echo(pair, "0")


EVENTS = [
    Commands("link down and up", ["ip link set v0 down"], ["ip link set v0 up"]),
    Carrier("far link down and up (carrier)", ["ip link set v0 down"], ["ip link set v0 up"], side="b"),
    Commands("address changed", ["ip addr del 10.77.0.1/16 dev v0"], ["ip addr add 10.77.0.3/16 dev v0"]),
    InterfaceReplaced(),
    DefaultRouteMoved(),
    Commands("destination unreachable (EHOSTUNREACH)", ["ip route add unreachable 10.77.0.2/32"], ["ip route del unreachable 10.77.0.2/32"],
             error="EHOSTUNREACH"),
    Commands("sending forbidden (EACCES)", ["ip route add prohibit 10.77.0.2/32"], ["ip route del prohibit 10.77.0.2/32"],
             error="EACCES"),
    Commands("sending dropped by the firewall (EPERM)", [FIREWALL], ["nft delete table inet cut"], error="EPERM"),
    Commands("queue full (ENOBUFS)", ["tc qdisc add dev v0 root tbf rate 8bit burst 1 limit 1"], ["tc qdisc del dev v0 root"],
             error="ENOBUFS"),
    ServerRestarted(),
]


def recovery_ms(program, result, capture, healed_ns):
    """None: no ping was answered after the recovery."""
    answered = {ping.sequence for ping in program.pings(result.output) if ping.kind in ("answered", "refused", "late")}
    replies = [reply for sequence, (sent, reply) in capture.trips().items() if sequence in answered and reply and sent and reply >= healed_ns]
    return (min(replies) - healed_ns) / 1e6 if replies else None


def happen(event, setup, programs):
    """[(program, milliseconds or None)]"""
    event.setup = setup
    with contextlib.ExitStack() as stack:
        stages = []
        for program in programs:
            pair = stack.enter_context(Pair())
            event.prepare(pair)
            if hasattr(program, "token"):
                program.token = setup.token(pair.near4)
            serve(pair, program, setup)
            stages.append((program, pair, stack.enter_context(Capture(pair.a))))
        count = round((BEFORE_S + BROKEN_S + AFTER_S) / INTERVAL_S)
        running = [Running(pair.a, program.command(pair.far4, count, INTERVAL_S), 40) for program, pair, _ in stages]
        time.sleep(BEFORE_S)
        for program, pair, _ in stages:
            event.break_it(pair, program)
        time.sleep(BROKEN_S)

        def heal(stage):
            return event.heal(stage[1], stage[0]) or time.time_ns()

        with concurrent.futures.ThreadPoolExecutor(len(stages)) as pool:
            healed = list(pool.map(heal, stages))
        results = [process.wait() for process in running]
    for program, result in zip(programs, results):
        # Sockets bound to a device cannot use routes without one.
        is_judge = isinstance(program, Ours) and (event.is_for_bound or not isinstance(program, OursBound))
        if event.error and is_judge and f'"error":"{event.error}"' not in result.output:
            raise RuntimeError(f"{event.name}: {program.name} saw no {event.error}")
    return [(program, recovery_ms(program, result, capture, at)) for (program, _, capture), result, at in zip(stages, results, healed)]


def events(setup, report):
    bound = OursBound(setup.ours.path)
    wanted = [event for event in EVENTS if setup.event in event.name]
    if not wanted:
        raise ValueError(f"no event has {setup.event!r} in its name")
    for event in wanted:
        programs = [setup.ours, setup.ours_udp, *([] if isinstance(event, DefaultRouteMoved) else [bound]), *setup.icmp[1:], setup.irtt]
        times = {}
        for _ in range(1 if setup.quick else setup.runs):
            for program, late in happen(event, setup, programs):
                times.setdefault(program, []).append(late)
        for program, values in times.items():
            came = None if None in values else statistics.median(values)
            report.figure(f"{event.name}: recovery to first answered ping (-: never)", program.name, came, "ms", values)
            if program in (setup.ours, setup.ours_udp, bound):
                report.at_most(f"{event.name}: {program.name}", GOAL_MS, came, "ms")
