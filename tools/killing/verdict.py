"""The judge: what a store promised when its process was killed, beside what the server holds in the end."""

from collections import Counter

# What can be wrong with a round.
KINDS = {
    "lost": "a fence of the store never arrived",
    "twice": "a fence arrived twice",
    "altered": "a fence that had ended arrived with another duration",
    "stray": "a fence arrived that the store does not know",
    "unmarked": "a fence of the store does not count as sent in the end",
    "unwritten": "the store and the drive log differ",
    "damaged": "SQLite finds the store damaged",
    "stuck": "a program hung, failed or did not send all",
}


class Judge:
    """Of one round."""

    def __init__(self):
        self.promised = {}
        self.complaints = []

    def complain(self, kind, text):
        self.complaints.append((kind, text))

    def see_store(self, store):
        """To be called after each kill, before the next start."""
        if store.damage:
            self.complain("damaged", store.damage)
        for fence in store.fences:
            if fence.submittable:
                self.promised[fence.entered] = duration(fence)

    def see_log(self, store, drive, ended):
        """`ended`: (entered, exited) of the fences that ended by the log of `drive`, microseconds since its start. An event is in the
        log before the engine takes it, so that the last fence may be missing in the store, and in it only."""
        logged = {(drive.started + entered, drive.started + exited) for entered, exited in ended}
        stored = {(fence.entered, fence.exited) for fence in store.fences if fence.drive == drive.id and fence.exited is not None}
        if stored - logged:
            self.complain("unwritten", f"{len(stored - logged)} fences of the store are not in the log")
        if len(logged - stored) > 1 or (logged - stored and max(logged) not in logged - stored):
            self.complain("unwritten", f"{len(logged - stored)} of {len(logged)} fences of the log were not in the store")

    def close(self, store, arrived):
        """`arrived`: what the server holds, by test."""
        self.see_end(store)
        counts = Counter(entered for fences in arrived.values() for entered, _ in fences)
        lengths = dict(fence for fences in arrived.values() for fence in fences)
        for entered, length in self.promised.items():
            if counts[entered] == 0:
                self.complain("lost", f"fence of {entered}")
            elif length is not None and lengths[entered] != length:
                self.complain("altered", f"fence of {entered}: {lengths[entered]} ms instead of {length}")
        for entered, count in counts.items():
            if count > 1:
                self.complain("twice", f"fence of {entered}: {count} times")
        for entered in counts.keys() - {fence.entered for fence in store.fences}:
            self.complain("stray", f"fence of {entered}")

    def see_end(self, store):
        self.see_store(store)
        waiting = sum(1 for fence in store.fences if fence.submittable and fence.submitted is None)
        if waiting:
            self.complain("unmarked", f"{waiting} fences")


def duration(fence):
    return None if fence.exited is None else (fence.exited - fence.entered) // 1000
