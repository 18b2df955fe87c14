#!/usr/bin/env python3
"""test_impair.py IMPAIR: TCP through a link that loses, copies and reorders packets in both directions. Exit status 77: no namespaces here."""

import hashlib
import os
import socket
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))

from spaces import Impaired, NotImpaired, inside

BYTES = os.urandom(1 << 20) * 3
ASKED = ["--loss", "5", "--duplicate", "3:1", "--reorder", "2:5", "--delay", "2"]


def send(pair):
    """Sends BYTES through the link and returns their hash as the far side received them."""
    with inside(pair.b):
        listener = socket.create_server((pair.far4, 0))
    received = hashlib.sha256()

    def receive():
        connection, _ = listener.accept()
        with connection:
            while piece := connection.recv(1 << 16):
                received.update(piece)

    reader = threading.Thread(target=receive, daemon=True)
    reader.start()
    with inside(pair.a):
        with socket.create_connection((pair.far4, listener.getsockname()[1]), timeout=20) as connection:
            connection.sendall(BYTES)
    reader.join(60)
    listener.close()
    return received.hexdigest()


def check(words, fact):
    print(("ok    " if fact else "FAIL  ") + words)
    return fact


def main():
    impair = sys.argv[1]
    if os.geteuid() != 0:
        print("namespaces need root")
        return 77
    with Impaired(impair, ASKED, os.devnull) as pair:
        complete = send(pair) == hashlib.sha256(BYTES).hexdigest()
        proof = pair.prove()
    good = check("TCP gets through", complete)
    good &= check(f"its packets met what was asked for: {proof}", "segments retransmitted" in proof)
    with Impaired(impair, ASKED[2:], os.devnull) as pair:
        send(pair)
        pair.options = ASKED
        try:
            good &= check(f"a link without loss is noticed; it gave {pair.prove()}", False)
        except NotImpaired as error:
            good &= check(f"a link without loss is noticed: {error}", "asked for 5.0 %" in str(error))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
