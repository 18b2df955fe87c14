#!/bin/sh
# The program's memory while it pings ten times a second, and for many targets. Usage: test_memory.sh CPING REFLECTOR
cping=$1 reflector=$2
work=$(mktemp -d)
trap 'kill $server $pinger 2>/dev/null; rm -rf "$work"' EXIT

failed() {
    echo "failed: $*" >&2
    exit 1
}

"$reflector" --listen 127.0.0.1 --port 0 --one-way >"$work/ready" &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -s "$work/ready" ] && break
    sleep 0.1
done
port=$(sed 's/.*://' "$work/ready")

# held_after SECONDS ARGUMENTS...: KiB of RSS, by the page tables.
held_after() {
    seconds=$1
    shift
    "$cping" --udp "$port" --oneway "$@" >"$work/out" 2>&1 &
    pinger=$!
    sleep "$seconds"
    held=$(sed -n 's/^Rss: *\([0-9]*\) kB/\1/p' /proc/$pinger/smaps_rollup)
    kill -INT $pinger
    wait $pinger
    [ -n "$held" ] || failed "it did not run: $(cat "$work/out")"
}

held_after 2.5 -i 0.1 127.0.0.1
echo "one target, 25 pings: $held KiB"
[ "$held" -le 2048 ] || failed "more than 2 MiB"
held_after 2.5 -i 0.001 127.0.0.1
echo "one target, 2500 pings: $held KiB"
[ "$held" -le 2560 ] || failed "more than 2.5 MiB"
held_after 3 -i 0.5 $(yes 127.0.0.1 | head -1000)
echo "1000 targets, 6 pings each: $held KiB"
[ "$held" -le 12288 ] || failed "more than 12 MiB"
echo passed
