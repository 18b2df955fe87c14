"""All measurements except the events. Each function adds figures, goals and, on request, controls to the report."""

import contextlib
import os
import statistics
import subprocess
import time

import judge
from capture import Capture
from running import SCRATCH, Running, run
from spaces import Impaired, Pair

median = statistics.median


def ratio(a, b):
    return a / b if b else float("inf")


def percentile(values, fraction):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * fraction))] if values else float("nan")


def serve(pair, program, setup):
    """Starts what the program needs on the far side and waits until it listens."""
    if program.server:
        argv, lines = program.server, 3
    elif program.udp:
        argv = [setup.reflector, "--listen", pair.far4, "--listen", pair.far6, "--port", "4440", "--secret", setup.secret]
        lines = 2
    else:
        return
    process = pair.start("b", argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for _ in range(lines):
        process.stdout.readline()


@contextlib.contextmanager
def loaded_cores(limit_s):
    """One busy loop a core (16 at most), bounded in time and in rounds."""
    loop = "i=0; while [ $i -lt 1000000000 ]; do i=$((i+1)); done"
    cores = sorted(os.sched_getaffinity(0))[:16]
    busy = [subprocess.Popen(["timeout", str(limit_s), "taskset", "-c", str(core), "sh", "-c", loop]) for core in cores]
    try:
        yield
    finally:
        for process in busy:
            process.terminate()
            process.wait()


# ---- Truth of round trips -----------------------------------------------------------------------------------------------

def rtt_errors(program, setup, bias_ns=0):
    """|reported - captured| of each answered ping, ns. `bias_ns` is added to the reported value (the control)."""
    count = 100 if setup.quick else 500
    with Pair() as pair:
        serve(pair, program, setup)
        with Capture(pair.a) as capture, loaded_cores(60):
            result = run(pair.a, program.command(pair.far4, count, 0.01), 45)
    trips, errors = capture.trips(), []
    for ping in program.pings(result.output):
        sent, received = trips.get(ping.sequence, (None, None))
        if ping.kind == "answered" and ping.rtt_ns is not None and received:
            errors.append(abs(ping.rtt_ns + bias_ns - (received - sent)))
    return errors, count


def rtt(setup, report):
    measure = "error of the round trip on loaded cores, p99 (against the capture's kernel stamps)"
    p99 = {}
    for program in setup.icmp + [setup.irtt]:
        p99[program.name] = []
    medians = {name: [] for name in p99}
    for _ in range(setup.runs):
        for program in setup.icmp + [setup.irtt]:
            errors, count = rtt_errors(program, setup)
            if len(errors) < count * 0.9:
                report.figure("pings without a figure (noise or a fault)", program.name, count - len(errors), f"of {count}")
            p99[program.name].append(percentile(errors, 0.99) / 1000)
            medians[program.name].append(percentile(errors, 0.5) / 1000)
    for name, values in p99.items():
        report.figure(measure, name, median(values), "µs", values)
        report.figure("the same, p50", name, median(medians[name]), "µs", medians[name])
    ours = median(p99[setup.ours.name])
    for peer, limit in (("ping", 0.5), ("fping", 0.25), ("irtt", 0.001)):
        report.at_most(f"round trip error p99, ours / {peer}", limit, ratio(ours, median(p99[peer])))
    if setup.control:
        errors, _ = rtt_errors(setup.ours, setup, bias_ns=100_000)
        report.control("round trips reported 100 µs too long", percentile(errors, 0.5) > 80_000)


# ---- Flood ----------------------------------------------------------------------------------------------------------------

def flood_command(program, targets, total):
    file = os.path.join(SCRATCH, "targets")
    with open(file, "w") as out:
        out.write("\n".join(targets) + "\n")
    return program.flood(total // len(targets), targets, file)


def flood_once(program, pair, targets, total):
    result = run(pair.a, flood_command(program, targets, total), 60)
    return result.cpu_s / total * 1e6, program.answered(result.output), total / result.wall_s


def flood_rounds(setup, pair, programs, targets, total, report):
    """Medians by program: CPU per ping in µs, pings a second (0: some were lost)."""
    costs, rates = {}, {}
    for _ in range(setup.runs):
        for program in programs:
            cost, answered, rate = flood_once(program, pair, targets, total)
            costs.setdefault(program.name, []).append(cost)
            rates.setdefault(program.name, []).append(rate if answered == total else 0.0)
            if answered != total:
                report.figure(f"flood, {len(targets)} target(s): answered", program.name, answered, f"of {total}")
    for name in costs:
        report.figure(f"flood, {len(targets)} target(s): CPU per ping", name, median(costs[name]), "µs", costs[name])
        report.figure(f"flood, {len(targets)} target(s): pings a second without loss (0: there was some)", name, median(rates[name]), "/s", rates[name])
    return {name: median(values) for name, values in costs.items()}, {name: median(values) for name, values in rates.items()}


def flood(setup, report):
    # With more pings in one run than sequence numbers (65536 in ten seconds), fping gives up.
    total = 20000 if setup.quick else 60000
    for targets, rate_goal in ((1, 1.25), (1000, 1.5)):
        programs = [setup.ours, setup.fping] + ([setup.product] if setup.product and targets > 1 else [])
        with Pair() as pair:
            addresses = pair.add_targets(targets)
            costs, rates = flood_rounds(setup, pair, programs, addresses, total, report)
            if setup.control and targets > 1:
                missing = addresses[:-1] + ["10.77.9.9"]
                answered = flood_once(setup.ours, pair, missing, total)[1]
                report.control("flood: one of a thousand targets that is not there", answered == total - total // targets)
        ours, peer = setup.ours.name, setup.fping.name
        report.at_most(f"flood, {targets} target(s): CPU per ping, ours / fping", 0.8, ratio(costs[ours], costs[peer]))
        report.at_least(f"flood, {targets} target(s): rate without loss, ours / fping", rate_goal, ratio(rates[ours], rates[peer]))
        if setup.product in programs:
            product = setup.product.name
            report.figure(f"flood, {targets} target(s): rate without loss, / fping", product, ratio(rates[product], rates[peer]), "")


# ---- Ten pings a second ---------------------------------------------------------------------------------------------------

def side_by_side(setup, programs, count, interval_s, captured):
    """All at once, each in its own pair. [(program, result, capture or None)]"""
    with contextlib.ExitStack() as stack:
        started = []
        for program in programs:
            pair = stack.enter_context(Pair())
            serve(pair, program, setup)
            capture = stack.enter_context(Capture(pair.a)) if captured else None
            started.append((program, pair, capture))
        limit = count * interval_s * 1.5 + 10
        running = [(p, Running(pair.a, p.command(pair.far4, count, interval_s, detail=False), limit), c) for p, pair, c in started]
        results = [(program, process.wait(), capture) for program, process, capture in running]
        time.sleep(0.2)
    return results


def one_by_one(setup, programs, count, interval_s):
    """The same, one program at a time: of programs that run at once, the first to wake pays for the next."""
    return [entry for program in programs for entry in side_by_side(setup, [program], count, interval_s, False)]


def cruise(setup, report):
    count = 100 if setup.quick else 600
    few = count // 3
    cpu, alone, wakeups = {}, {}, {}
    for _ in range(setup.runs):
        for program, result, _ in one_by_one(setup, [setup.ours, setup.fping], few, 0.1):
            alone.setdefault(program.name, []).append(result.cpu_s * 1000)
        for program, result, _ in side_by_side(setup, setup.icmp + [setup.irtt, setup.ours_udp], count, 0.1, False):
            cpu.setdefault(program.name, []).append(result.cpu_s * 1000)
            wakeups.setdefault(program.name, []).append(result.switches / count)
    for name in cpu:
        report.figure(f"{count} pings at 10 a second, all at once: CPU, start included", name, median(cpu[name]), "ms", cpu[name])
        report.figure(f"{count} pings at 10 a second: wakeups a ping (voluntary switches)", name, median(wakeups[name]), "", wakeups[name])
    for name in alone:
        report.figure(f"{few} pings at 10 a second, one by one: CPU, start included", name, median(alone[name]), "ms", alone[name])
    ours = setup.ours.name
    report.at_most("10 pings a second, one by one: CPU, ours / fping", 1.15, ratio(median(alone[ours]), median(alone["fping"])))
    report.at_most("10 pings a second: wakeups a ping", 2.2, median(wakeups[ours]))


def slope(stamps):
    """Least squares: nanoseconds from ping to ping."""
    n = len(stamps)
    if n < 2:
        return float("nan")
    middle, first = (n - 1) / 2, stamps[0]
    mean = sum(stamp - first for stamp in stamps) / n
    return sum((i - middle) * (stamp - first - mean) for i, stamp in enumerate(stamps)) / sum((i - middle) ** 2 for i in range(n))


def drift(setup, report):
    count, interval = (100, 0.1) if setup.quick else (600, 0.1)
    drifts, counts = {}, {}
    for _ in range(setup.runs):
        for program, _, capture in side_by_side(setup, setup.icmp + [setup.irtt, setup.ours_udp], count, interval, True):
            stamps = sorted(sent for sent, _ in capture.trips().values())
            drifts.setdefault(program.name, []).append(abs(slope(stamps) - interval * 1e9) / 1000)
            inside = sum(1 for stamp in stamps if stamp < stamps[0] + (count - 0.5) * interval * 1e9)
            counts.setdefault(program.name, []).append(inside)
    for name in drifts:
        report.figure("drift a ping, by the capture", name, median(drifts[name]), "µs", drifts[name])
        report.figure(f"pings in {count * interval:g} s, by the capture", name, median(counts[name]), f"of {count}", counts[name])
    report.at_most("drift a ping", 1, median(drifts[setup.ours.name]), "µs")
    report.goal(f"exactly {count} pings in {count * interval:g} s, each run", f"= {count}", min(counts[setup.ours.name]),
                set(counts[setup.ours.name]) == {count})
    if setup.control:
        drifting = [round(i * (interval * 1e9 + 2000)) for i in range(count)]
        report.control("drift of a made up pinger, 2 µs a ping", abs(slope(drifting) - interval * 1e9) / 1000 > 1)


# ---- Memory ---------------------------------------------------------------------------------------------------------------

def memory(setup, report):
    total = 100_000 if setup.quick else 1_000_000
    with Pair() as pair:
        for program in (setup.ours, setup.fping):
            result = run(pair.a, flood_command(program, [pair.far4], total), 120, sample_rss=True)
            early = next((rss for at, rss in result.rss if at >= 0.03), 0)
            peak = max((rss for _, rss in result.rss), default=0)
            report.figure(f"memory, {total} pings: peak RSS", program.name, peak / 2**20, "MB")
            report.figure(f"memory, {total} pings: growth after the first 30 ms", program.name, (peak - early) / 1024, "KB")
            if program is setup.ours:
                report.at_most(f"memory growth over {total} pings", 256, (peak - early) / 1024, "KB")
        process = Running(pair.a, setup.ours.command(pair.far4, 20, 0.1, detail=False), 20, sample_rss=True)
        rss = max((rss for _, rss in process.wait().rss), default=0)
        report.figure("memory, 20 pings at 10 a second: RSS", setup.ours.name, rss / 2**20, "MB")
        report.at_most("RSS of the C program", 2, rss / 2**20, "MB")


# ---- Counts ---------------------------------------------------------------------------------------------------------------

IMPAIRED = ("--seed 7 --delay 5 --jitter 2 --up-loss 2 --down-loss 3 --duplicate 2:1 --reorder 2:25 --hold 1:400 "
            "--corrupt 1 --corrupt-fixed 1").split()
TIMEOUT_S, INTERVAL_S, MARGIN = 0.2, 0.01, 100


def impaired_run(program, setup, family):
    count = 600 if setup.quick else 3000
    log = os.path.join(SCRATCH, "impair.log")
    with Impaired(setup.impair, IMPAIRED, log) as pair:
        serve(pair, program, setup)
        if program.udp and hasattr(program, "token"):
            program.token = setup.token(pair.near6 if family == 6 else pair.near4)
        target = pair.far6 if family == 6 else pair.far4
        result = run(pair.a, program.command(target, count, INTERVAL_S, TIMEOUT_S), count * INTERVAL_S * 1.5 + 15)
        time.sleep(1)
        pair.prove_counts()
    lines, summary = judge.read_log(log)
    protocol = "irtt" if program is setup.irtt else "rtr" if program.udp else "icmp"
    if not any(line["kind"] in ("echo-request", "udp") for line in lines):
        raise RuntimeError(f"{program.name} sent nothing: {result.output[:200]}")
    if program is setup.irtt:  # its handshake does not count as a ping
        lines = [line for line in lines if line["kind"] == "udp" and not int(line["head"][6:8], 16) & 5]
    truth = judge.Truth(lines, TIMEOUT_S, protocol, sees_bad_checksums=family == 4 and protocol == "icmp")
    return truth, program.pings(result.output), summary


def counts(setup, report):
    for family in (4, 6):
        for program in (setup.ours, setup.ours_udp, *([] if family == 6 else [setup.fping, setup.ping, setup.oping, setup.irtt])):
            truth, pings, summary = impaired_run(program, setup, family)
            kinds = judge.KINDS if program in (setup.ours,) else tuple(k for k in judge.KINDS if k != "corrupt")
            table, wrong, equal = judge.compare(truth, pings, MARGIN, kinds, program.silent_loss)
            name = f"{program.name} IPv{family}"
            for kind, (log, seen) in table.items():
                report.figure(f"counts through the impairment device: {kind}", name, seen, f"log: {log}")
            report.figure("counts: verdicts that differ from the log", name, len(wrong), "e.g. " + str(wrong[:3]) if wrong else "")
            report.figure("pacing error of the impairment device, p99", name, summary["pacing_error"]["p99_us"], "µs")
            if program in (setup.ours, setup.ours_udp):
                report.goal(f"{name}: every count equal to the log, to the packet", "= log", len(wrong), equal, "wrong")
                if setup.control:
                    for text, changed in judge.miscount(pings):
                        noticed = not judge.compare(truth, changed, 0 if "corrupt" in text else MARGIN, kinds)[2]
                        report.control(f"{name}: {text}", noticed)
