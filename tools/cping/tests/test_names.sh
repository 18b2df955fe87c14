#!/bin/sh
# A name that moves is followed; in a mount namespace with a hosts file of the test's own. Usage: test_names.sh CPING REFLECTOR
cping=$1 reflector=$2
if [ -z "$CPING_HOSTS" ]; then
    unshare -m true 2>/dev/null || { echo "skipped: a mount namespace needs root"; exit 77; }
    CPING_HOSTS=$(mktemp -d)
    export CPING_HOSTS
    unshare -m "$0" "$@"
    status=$?
    rm -rf "$CPING_HOSTS"
    exit $status
fi
work=$CPING_HOSTS
trap 'kill $server $pinger 2>/dev/null' EXIT

failed() {
    echo "failed: $*" >&2
    cat "$work/out" "$work/err" >&2
    exit 1
}

# Written in place: the file is mounted.
name_is_at() { for address; do echo "$address moving.test"; done >"$work/hosts"; }

# until SECONDS COMMAND...
until_() {
    left=$(($1 * 20))
    shift
    while ! "$@"; do
        left=$((left - 1))
        [ $left -gt 0 ] || failed "in vain: $*"
        sleep 0.05
    done
}

said() { grep -q -- "$1" "$work/out" "$work/err"; }

name_is_at 127.0.0.2
mount --bind "$work/hosts" /etc/hosts || exit 1
"$reflector" --listen 127.0.0.1 --port 0 --one-way >"$work/ready" &
server=$!
until_ 5 [ -s "$work/ready" ]
port=$(sed 's/.*://' "$work/ready")
run() { "$cping" --udp "$port" --oneway --requery 1 -i 0.05 -w 20 "$@" >"$work/out" 2>"$work/err" & pinger=$!; }

# Nobody answers at the first address, and a port unreachable from there is no sign of life. It stays as long as the name has it.
run --json moving.test
until_ 5 said '"address":"127.0.0.2".*"verdict":"icmp-error"'
name_is_at 127.0.0.1 127.0.0.2
sleep 2.2
! said moved_from || failed "moved though the name still has the address"
name_is_at ::1 127.0.0.1
until_ 5 said '^{"target":"moving.test","address":"127.0.0.1","moved_from":"127.0.0.2","event_ns":[0-9]*}$'
until_ 5 said '"address":"127.0.0.1".*"verdict":"answered"'
# Where it answers it stays, whatever the name says.
name_is_at 127.0.0.2
sleep 2.2
kill -INT $pinger
wait $pinger || failed "status"
[ "$(grep -c moved_from "$work/out")" = 1 ] || failed "moved although it answers"
said '"summary":{"target":"moving.test","address":"127.0.0.1"' || failed "summary"
# The grid does not notice: no slot is missing, none was sent late.
python3 - "$work/out" <<'END' || failed "the grid was held up"
import json, sys
pings = [json.loads(line) for line in open(sys.argv[1]) if '"slot"' in line]
slots = sorted(slot for ping in pings for slot in range(ping["slot"], ping["slot"] + ping.get("count", 1)))
assert slots == list(range(len(slots))), "slots are missing"
late = sorted(ping["sent_ns"] - ping["slot_ns"] for ping in pings if "sent_ns" in ping)
print("sent after their slot: median %.3f ms, worst %.3f ms, of %d" % (late[len(late) // 2] / 1e6, late[-1] / 1e6, len(late)))
assert late[len(late) // 2] < 5e6
END

# In words; an address is no name.
name_is_at 127.0.0.2
run --threads 2 moving.test 127.0.0.2
until_ 5 said "moving.test: slot 5 "
name_is_at 127.0.0.1
until_ 5 said "^cping: moving.test was silent at 127.0.0.2 and is at 127.0.0.1 now; pinging there$"
until_ 5 said "moving.test: slot [0-9]* sequence [0-9]* answered"
# A thread that looks names up, and no thread has a capability.
for status in /proc/$pinger/task/*/status; do
    grep -q "^CapPrm:	0*$" "$status" && grep -q "^NoNewPrivs:	1" "$status" || failed "capabilities: $(cat "$status")"
done
kill -INT $pinger
wait $pinger
[ $? = 1 ] || failed "status"
[ "$(wc -l <"$work/err")" = 1 ] || failed "more than one line"
echo passed
