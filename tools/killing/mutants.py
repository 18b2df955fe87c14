"""Programs with one deliberate error: a patched copy of the sources, built in its own folder. The judge must notice each."""

import os
import shutil
import subprocess
import sys
from collections import namedtuple

from products import ROOT

FOLDER = os.path.join(ROOT, "build", "torture")

# `expected`: the judge's complaint. `command`: the command to kill for it.
Mutant = namedtuple("Mutant", "name text command expected edits")

MUTANTS = [
    Mutant("marks-before-the-answer", "a batch counts as sent before its answer arrives", "submit", "lost", [
        ("Submission/Sending/Delivery.swift",
         "      step = .coverageResult\n      try await submit(result, of: batch, pass)",
         "      step = .coverageResult\n      try await store.outbox.markSubmitted(batch: batch.id, at: clock.wall())\n"
         "      try await submit(result, of: batch, pass)")]),
    Mutant("does-not-ask", "a batch in doubt is sent again with a new test, without asking the server", "submit", "twice", [
        ("Submission/Sending/PassRunner.swift",
         "      try await HistoryCheck(parts: parts).resolveDoubts(&pass)\n", "      pass.areDoubtsResolved = true\n"),
        ("Submission/Sending/Delivery.swift",
         "if let test = batch.test { test } else { try await anchor.anchor(&batch, pass) }",
         "if let test = batch.test, batch.state == .waiting { test } else { try await anchor.anchor(&batch, pass) }")]),
    Mutant("writes-late", "a fence that has ended is in the log, and waits in memory for the next checkpoint", "record", "unwritten", [
        ("Driving/Decision/DriveJournal.swift",
         "    return isUrgent ? seal(at: now) + [write(seen: now)] : []\n",
         "    let hasClosed = changes.contains { if case .fenceClosed = $0 { true } else { false } }\n"
         "    return isUrgent ? seal(at: now) + (hasClosed ? [] : [write(seen: now)]) : []\n")]),
    Mutant("marks-a-result-before-the-answer", "a speed test counts as sent before its answer arrives", "submit", "result lost", [
        ("Submission/Sending/SpeedTestDelivery.swift",
         "    do {\n      try await server.send(pass.exchange) { try await $0.submit(request) }\n",
         "    do {\n      try await store.speedTests.markSubmitted(test.id, part, at: clock.wall())\n"
         "      try await server.send(pass.exchange) { try await $0.submit(request) }\n")]),
    Mutant("marks-a-result-after-the-request", "a result is marked as sending after its request, not before", "submit", "result unmarked", [
        ("Submission/Sending/SpeedTestDelivery.swift",
         "    try await store.speedTests.beginSending(test.id, part, at: clock.wall())\n", ""),
        ("Submission/Sending/SpeedTestDelivery.swift",
         "      try await server.send(pass.exchange) { try await $0.submit(request) }\n",
         "      try await server.send(pass.exchange) { try await $0.submit(request) }\n"
         "      try await store.speedTests.beginSending(test.id, part, at: clock.wall())\n")]),
    Mutant("forgets-a-result-in-doubt", "a result in doubt is never sent again", "submit", "result unmarked", [
        ("Store/Outbox/SpeedTestOutbox.swift",
         "'waiting', 'sending', 'quarantined'\" : \"'waiting', 'sending'\"",
         "'waiting', 'quarantined'\" : \"'waiting'\"")]),
    Mutant("uses-a-number-again", "a loop uses the number of an interrupted test again", "loop", "number twice", [
        ("SpeedTest/Loop/Decision/LoopCoordinator.swift",
         "        memory.usage.chargeInterruptedTest(at: moment.wall)\n        abort(.restarted, &aborts)\n",
         "        memory.usage.chargeInterruptedTest(at: moment.wall)\n"
         "        (memory.stage, memory.number, memory.isDue) = (.waiting, memory.number - 1, true)\n")]),
]


def check():
    """Checks that each place to patch exists once. Raises RuntimeError for the first that does not."""
    for mutant in MUTANTS:
        texts = {}
        for file, right, wrong in mutant.edits:
            texts[file] = patched(file, texts.get(file) or read(os.path.join(ROOT, "Sources", file)), right, wrong)


def build(mutant):
    """Returns the path of its program. The first build takes some minutes; later builds are incremental."""
    print(f"building {mutant.name} (some minutes the first time)", file=sys.stderr, flush=True)
    sources = os.path.join(FOLDER, "sources")
    lay_out(sources)
    for file, right, wrong in mutant.edits:
        patch(os.path.join(sources, "Sources", file), right, wrong)
    command = ["swift", "build", "--package-path", sources]
    subprocess.run([*command, "--product", "coverage-probe"], check=True, stdout=sys.stderr)
    directory = subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    program = os.path.join(FOLDER, mutant.name)
    shutil.copy(os.path.join(directory, "coverage-probe"), program)
    return program


def lay_out(sources):
    """Copies the sources; only changed files are written, so that the next build is incremental."""
    os.makedirs(sources, exist_ok=True)
    for name in ("Package.swift", "Package.resolved", "Sources", "Tests", "tools"):
        copy(os.path.join(ROOT, name), os.path.join(sources, name))
    packages = os.path.join(sources, ".build")
    if not os.path.exists(packages):
        os.makedirs(packages)
        for name in ("checkouts", "repositories", "workspace-state.json"):
            if os.path.exists(fetched := os.path.join(ROOT, ".build", name)):
                subprocess.run(["cp", "-a", fetched, packages], check=True)


def copy(source, destination):
    if os.path.isdir(source):
        os.makedirs(destination, exist_ok=True)
        for name in set(os.listdir(destination)) - set(os.listdir(source)):
            path = os.path.join(destination, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        for name in os.listdir(source):
            copy(os.path.join(source, name), os.path.join(destination, name))
    elif os.path.exists(source):
        with open(source, "rb") as file:
            text = file.read()
        if not os.path.exists(destination) or open(destination, "rb").read() != text:
            shutil.copy(source, destination)


def patch(path, right, wrong):
    text = patched(path, read(path), right, wrong)
    with open(path, "w") as file:
        file.write(text)


def read(path):
    with open(path) as file:
        return file.read()


def patched(path, text, right, wrong):
    if text.count(right) != 1:
        raise RuntimeError(f"{path}: the place to patch is there {text.count(right)} times:\n{right}")
    return text.replace(right, wrong)
