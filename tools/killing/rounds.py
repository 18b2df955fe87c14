"""Rounds: a run that is killed, the runs after it, and the judge's verdict."""

import os
import queue
import random
import shutil
import subprocess
import threading
import time

from arena import MEASURING, NO_PINGS, Arena, Hang, Kill
from verdict import Judge

COMMANDS = {"submit": ("submit",), "record": ("record", "--duration", "2s"), "agent": ("agent",),
            "speedtest": ("speedtest",), "loop": ("loop",)}
RESTARTS = 5
LATE_S = 0.3
EX_TEMPFAIL = 75
FAULTS = (None, "coverageResult:slow:0.1", "*:slow:0.05", f"coverageResult:late:{LATE_S}", "result:slow:0.1", f"result:late:{LATE_S}",
          f"resultUpdate:late:{LATE_S}", f"resultQoS:late:{LATE_S}")


class Round:
    """`kills`: (command, Kill), in turn. `fault`: of the control server. `fresh`: on a device without a store."""

    def __init__(self, kills, fault=None, fresh=False):
        self.kills, self.fault, self.fresh = kills, fault, fresh
        self.complaints, self.killed_on, self.killed, self.restarts = [], [], 0, 0
        # Ended fences in the logs of killed drives, and whether the round kills drives.
        self.ended, self.kills_drives = 0, any(command in ("record", "agent") for command, _ in kills)
        # Kills with a batch in doubt, and those of them after which the server had it.
        self.doubtful = self.answers_lost = 0
        # The same with results of speed tests.
        self.doubtful_results = self.result_answers_lost = 0

    def __str__(self):
        return ", ".join(f"{command} killed {kill}" for command, kill in self.kills) + (f", {self.fault}" if self.fault else "")

    def run(self, arena):
        judge = Judge()
        arena.restore(self.fresh)
        with arena.server(*([self.fault] if self.fault else [])):
            try:
                for command, kill in self.kills:
                    self.run_killed(arena, judge, command, kill)
                if self.kills[-1][0] == "loop" and self.killed:
                    self.end_loop(arena, judge)
                self.send_the_rest(arena)
            except Hang as hang:
                judge.complain("stuck", str(hang))
            # The server may still execute a late request.
            time.sleep(LATE_S if self.fault and "late" in self.fault else 0)
            judge.close(arena.read_store(), arena.arrived(), arena.held_tests())
        self.complaints, self.ended = judge.complaints, judge.ended
        if self.complaints and arena.keep:
            shutil.copytree(arena.folder, os.path.join(arena.keep, str(self).replace(" ", "-").replace(",", "")), dirs_exist_ok=True)

    def run_killed(self, arena, judge, command, kill):
        before = {drive.id for drive in arena.read_store().drives}
        status, _ = arena.run(*COMMANDS[command], kill=kill)
        if status == -9:
            self.killed += 1
            self.killed_on += last_call(arena)
        store = arena.read_store()
        if status not in (-9, 0, NO_PINGS) and not is_expected(status, command, store):
            judge.complain("stuck", f"{command} ended with {status}: {arena.last_errors()}")
        judge.see_store(store)
        for drive in store.drives:
            if drive.id not in before and drive.log:
                judge.see_log(store, drive, arena.replayed(drive.log))
        if store.doubtful:
            self.doubtful += 1
            arrived = arena.arrived()
            self.answers_lost += any(arrived.get(test) for test in store.doubtful)
        if store.doubtful_results:
            self.doubtful_results += 1
            held = {one["test_uuid"] for one in arena.held_tests() if one["state"] != "STARTED"}
            self.result_answers_lost += any(test in held for test in store.doubtful_results)

    def end_loop(self, arena, judge):
        """The next process continues the killed loop."""
        status, _ = arena.run(*COMMANDS["loop"])
        if status not in (0, 1, EX_TEMPFAIL):
            judge.complain("stuck", f"loop ended with {status}: {arena.last_errors()}")
        judge.see_store(arena.read_store())

    def send_the_rest(self, arena):
        """Unattended: the same command until there is nothing to send."""
        for self.restarts in range(1, RESTARTS + 1):
            if arena.run("submit")[0] == 0:
                return
        raise Hang(f"submit ended {RESTARTS} times without having sent all: {arena.last_errors()}")


def is_expected(status, command, store):
    """A measurement that the host delayed is aborted. A QoS report whose answer was lost is quarantined, and the command reports that
    data is unsent."""
    return (status == 1 and command in MEASURING
            or status == EX_TEMPFAIL and any(one.qos_state == "quarantined" for one in store.speed_tests))


def last_call(arena):
    if not os.path.exists(arena.trace):
        return []
    with open(arena.trace) as file:
        return file.read().splitlines()[-1:]


class Cycle:
    """A command that is not killed: its calls and its seconds."""

    def __init__(self, arena, command):
        arena.restore()
        with arena.server():
            status, self.seconds = arena.run(*COMMANDS[command], counting=True)
        if status != 0:
            raise RuntimeError(f"{command}: exit status {status}: {arena.last_errors()}")
        with open(arena.trace) as file:
            self.calls = file.read().splitlines()

    def points(self):
        """Kills before each call, and in the middle of each write."""
        for number, call in enumerate(self.calls, 1):
            yield Kill(call=number)
            if call.split()[0] in ("write", "pwrite", "pwrite64", "send", "sendto"):
                yield Kill(call=number, torn=True)


def random_round(dice, seconds):
    """Up to four kills in a row. `seconds`: how long each command takes."""
    usual = [command for command in COMMANDS if command not in MEASURING]
    commands = [dice.choice(usual) for _ in range(dice.choice((1, 1, 1, 2, 3, 4)))]
    # Measurements take long: one round in eight has one.
    if dice.random() < 1 / 8:
        commands[dice.randrange(len(commands))] = dice.choice(MEASURING)
    kills = [(command, Kill(seconds=dice.uniform(0, seconds[command]))) for command in commands]
    return Round(kills, dice.choice(FAULTS), fresh=commands[0] != "submit" and dice.random() < 0.1)


def all_at_once(arenas, rounds, tell):
    """Runs the rounds, one at a time on each arena. `tell` gets each finished round."""
    waiting, lock = queue.Queue(), threading.Lock()
    for one in rounds:
        waiting.put(one)

    def work(arena, failures):
        while not failures:
            try:
                one = waiting.get_nowait()
            except queue.Empty:
                return
            one.run(arena)
            with lock:
                tell(one)

    side_by_side(work, arenas)


def make_arenas(around, folder, count, probe=None, keep=None):
    """Makes arenas with their templates. `keep`: the folder for copies of rounds with complaints."""
    source, library = os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls.c"), os.path.join(folder, "calls.so")
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    arenas = [Arena(around, os.path.join(folder, f"arena-{number}"), probe, keep=keep) for number in range(count)]
    side_by_side(lambda arena, _: arena.make_template(), arenas)
    return arenas


def side_by_side(work, arenas):
    """Runs `work` in a thread for each arena; it also gets the failures so far. After a failure or a signal, running rounds end
    normally, so that no server is left."""
    failures = []

    def run(arena):
        try:
            work(arena, failures)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(arena,), daemon=True) for arena in arenas]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException as end:
        failures.append(end)
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
