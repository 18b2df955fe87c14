"""The judge: compares the store at each kill with the server at the end."""

from collections import Counter

import results

# The complaints about a round.
KINDS = {
    "lost": "a fence of the store never arrived",
    "twice": "a fence arrived twice",
    "altered": "an ended fence arrived with another duration",
    "stray": "an unknown fence arrived",
    "unmarked": "a fence of the store does not count as sent in the end",
    "unwritten": "the store and the drive log differ",
    "damaged": "SQLite finds the store damaged",
    "stuck": "a program hung, failed or did not send all",
} | results.KINDS


class Judge:
    """Judges one round."""

    def __init__(self):
        # By row id: the duration, and all its times of entry. A pass moves the times of a drive with a wrong clock.
        self.promised, self.entries = {}, {}
        self.complaints = []
        # Ended fences in killed drives: without any, a round proves nothing about drives.
        self.ended = 0
        self.results = results.ResultJudge(self.complain)

    def complain(self, kind, text):
        self.complaints.append((kind, text))

    def see_store(self, store):
        """Call after each kill, before the next start."""
        if store.damage:
            self.complain("damaged", store.damage)
        self.results.see_store(store)
        for fence in store.fences:
            self.entries.setdefault(fence.id, set()).add(fence.entered)
            if fence.submittable:
                self.promised[fence.id] = duration(fence)

    def see_log(self, store, drive, ended):
        """`ended`: (entered, exited) of the ended fences in the log of `drive`, microseconds since its start. An event is logged before
        the engine handles it, so that only the store may lack the last fence."""
        self.ended += len(ended)
        logged = {(drive.started + entered, drive.started + exited) for entered, exited in ended}
        stored = {(fence.entered, fence.exited) for fence in store.fences if fence.drive == drive.id and fence.exited is not None}
        if stored - logged:
            self.complain("unwritten", f"{len(stored - logged)} fences of the store are not in the log")
        if len(logged - stored) > 1 or (logged - stored and max(logged) not in logged - stored):
            self.complain("unwritten", f"{len(logged - stored)} of {len(logged)} fences of the log were not in the store")

    def close(self, store, arrived, held):
        """`arrived`: the fences at the server, by test; `held`: its speed tests."""
        self.see_end(store)
        self.results.close(store, held)
        counts = Counter(entered for fences in arrived.values() for entered, _ in fences)
        lengths = dict(fence for fences in arrived.values() for fence in fences)
        for row, length in self.promised.items():
            there = [entered for entered in self.entries[row] if counts[entered]]
            if not there:
                self.complain("lost", f"fence {row} of {self.entries[row]}")
            elif length is not None and all(lengths[entered] != length for entered in there):
                self.complain("altered", f"fence {row}: {[lengths[entered] for entered in there]} ms instead of {length}")
            if sum(counts[entered] for entered in there) > 1:
                self.complain("twice", f"fence {row}: {[(entered, counts[entered]) for entered in there]}")
        for row in self.promised.keys() - {fence.id for fence in store.fences}:
            self.complain("lost", f"the row of fence {row}")
        for entered in counts.keys() - set().union(*self.entries.values()):
            self.complain("stray", f"fence of {entered}")

    def see_end(self, store):
        self.see_store(store)
        waiting = sum(1 for fence in store.fences if fence.submittable and fence.submitted is None)
        if waiting:
            self.complain("unmarked", f"{waiting} fences")


def duration(fence):
    return None if fence.exited is None else (fence.exited - fence.entered) // 1000
