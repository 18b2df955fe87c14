"""The judge of times: an AF_PACKET listener with the kernel's nanosecond stamps (SO_TIMESTAMPNS). It sees each packet at the
pinger's interface, for any program. It never blocks in reading: to wake a reader, the kernel would take microseconds of the
sender's time between this stamp and the driver."""

import socket
import struct
import threading
import time

from spaces import inside

SO_TIMESTAMPNS = 35
SO_RCVBUFFORCE = 33
ETH_P_ALL = 3
PACKET_OUTGOING = 4


class Packet:
    __slots__ = ("stamp_ns", "outgoing", "request", "flow", "sequence")

    def __init__(self, stamp_ns, outgoing, request, flow, sequence):
        self.stamp_ns, self.outgoing, self.request = stamp_ns, outgoing, request
        self.flow, self.sequence = flow, sequence


def parse_icmp(data, request_type, outgoing, stamp_ns):
    if len(data) < 8 or data[0] not in (request_type, 129 if request_type == 128 else 0):
        return None
    identifier, sequence = struct.unpack_from("!HH", data, 4)
    return Packet(stamp_ns, outgoing, data[0] == request_type, ("icmp", identifier), sequence)


def parse_udp(data, outgoing, stamp_ns):
    if len(data) < 16:
        return None
    ports = struct.unpack_from("!HH", data)
    payload, near = data[8:], ports[0] if outgoing else ports[1]
    if payload[:1] == b"R" and payload[2:4] == b"01":
        return Packet(stamp_ns, outgoing, outgoing, ("rtr", near), struct.unpack_from("!I", payload, 4)[0])
    if payload[:3] == b"\x14\xa7\x5b" and len(payload) >= 16 and not payload[3] & 5:  # neither open nor close
        return Packet(stamp_ns, outgoing, outgoing, ("irtt", near), struct.unpack_from("<I", payload, 12)[0])
    return None


def parse(data, outgoing, stamp_ns):
    if len(data) >= 28 and data[0] >> 4 == 4:
        rest = data[(data[0] & 15) * 4:]
        if data[9] == 1:
            return parse_icmp(rest, 8, outgoing, stamp_ns)
        return parse_udp(rest, outgoing, stamp_ns) if data[9] == 17 else None
    if len(data) >= 48 and data[0] >> 4 == 6:
        if data[6] == 58:
            return parse_icmp(data[40:], 128, outgoing, stamp_ns)
        return parse_udp(data[40:], outgoing, stamp_ns) if data[6] == 17 else None
    return None


class Capture:
    """with Capture(namespace) as capture: ...; then capture.packets"""

    def __init__(self, namespace):
        with inside(namespace):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 256 << 20)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.setblocking(False)
        self.packets = []
        self.stopping = False
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping = True
        self.thread.join()
        self.socket.close()

    def run(self):
        while not self.stopping:
            time.sleep(0.2)
            self.drain()
        self.drain()

    def drain(self):
        while True:
            try:
                data, control, _, address = self.socket.recvmsg(256, 64)
            except BlockingIOError:
                return
            except OSError:
                continue  # an interface went down
            seconds, nanoseconds = struct.unpack("qq", control[0][2][:16])
            packet = parse(data, address[2] == PACKET_OUTGOING, seconds * 10**9 + nanoseconds)
            if packet:
                self.packets.append(packet)

    def trips(self):
        """{sequence: (sent, first reply or None)} of the requests sent from here."""
        sent, replies = {}, {}
        for packet in sorted(self.packets, key=lambda packet: packet.stamp_ns):
            if packet.outgoing and packet.request:
                sent.setdefault((packet.flow, packet.sequence), packet.stamp_ns)
            elif not packet.outgoing and not packet.request:
                replies.setdefault((packet.flow, packet.sequence), packet.stamp_ns)
        return {key[1]: (stamp, replies.get(key)) for key, stamp in sent.items()}
