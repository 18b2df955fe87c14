"""The judge of speed tests: compares the store at each kill with the server at the end."""

from collections import Counter

# The complaints about a round.
KINDS = {
    "result lost": "the result of a speed test never arrived, or its row is gone",
    "result twice": "a result, or a report of QoS tests, arrived twice",
    "result altered": "an ended speed test changed its outcome",
    "result stray": "a result arrived of an aborted or unknown speed test",
    "result unmarked": "a speed test does not count as sent in the end",
    "number twice": "a number of a loop came twice",
}
# The state of a test at the server, by the outcome in the store.
CLOSED = {"completed": "FINISHED", "failed": "ERROR", "aborted": "ABORTED"}


class ResultJudge:
    """Judges one round. `complain` takes a kind and a text."""

    def __init__(self, complain):
        self.complain = complain
        self.outcomes = {}

    def see_store(self, store):
        """Call after each kill, before the next start, and at the end."""
        known = {one.test: one for one in store.speed_tests}
        for test, outcome in self.outcomes.items():
            if test not in known:
                self.complain("result lost", f"the row of speed test {test}")
            elif outcome not in (None, known[test].outcome):
                self.complain("result altered", f"speed test {test}: {known[test].outcome} instead of {outcome}")
        self.outcomes |= {one.test: one.outcome for one in store.speed_tests}
        numbers = Counter((one.loop, one.number) for one in store.speed_tests if one.loop is not None)
        for (loop, number), count in numbers.items():
            if count > 1:
                self.complain("number twice", f"the store has test {number} of loop {loop} {count} times")

    def close(self, store, held):
        """`held`: the speed tests of the server."""
        self.see_store(store)
        known = {one.test: one for one in store.speed_tests}
        at_server = {one["test_uuid"]: one for one in held}
        for test, row in known.items():
            self.compare(row, at_server.get(test))
        for test, one in at_server.items():
            if one["results_accepted"] and test not in known:
                self.complain("result stray", f"speed test {test}, which the store does not know")
        numbers = Counter((one["loop_uuid"], one["test_counter"]) for one in held if one.get("loop_uuid"))
        for (loop, number), count in numbers.items():
            if count > 1:
                self.complain("number twice", f"the server has test {number} of loop {loop} {count} times")

    def compare(self, row, held):
        if held is None:
            return self.complain("result lost", f"the server does not know speed test {row.test}")
        accepted, reports = held["results_accepted"], len(held["qos_results"])
        if row.outcome == "completed" and accepted == 0:
            self.complain("result lost", f"speed test {row.test} ({row.state})")
        if held["deleted"]:
            self.complain("result lost", f"speed test {row.test}: the server deleted it (network_type {held['network_type']})")
        if row.outcome != "completed" and accepted:
            self.complain("result stray", f"speed test {row.test} has no result ({row.outcome})")
        if accepted > 1 or reports > 1:
            self.complain("result twice", f"speed test {row.test}: {accepted} results, {reports} reports")
        if row.state != "submitted":
            self.complain("result unmarked", f"speed test {row.test} is {row.state}")
        elif held["state"] != CLOSED[row.outcome]:
            self.complain("result lost", f"speed test {row.test} is {row.outcome}, and {held['state']} at the server")
        # A report whose answer was lost is quarantined, because the server might count it twice.
        if row.qos_state not in (None, "submitted", "quarantined"):
            self.complain("result unmarked", f"the QoS tests of speed test {row.test} are {row.qos_state}")
        if row.qos_state == "submitted" and reports == 0:
            self.complain("result lost", f"the QoS tests of speed test {row.test}")
