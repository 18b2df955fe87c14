#!/bin/sh
# The program over loopback, with the one-way format: it needs no privilege. Usage: test_cping.sh CPING REFLECTOR
cping=$1 reflector=$2
work=$(mktemp -d)
trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT

failed() {
    echo "failed: $*" >&2
    exit 1
}

# expect STATUS COMMAND...: output goes to $work/out and $work/err.
expect() {
    wanted=$1
    shift
    "$@" >"$work/out" 2>"$work/err"
    status=$?
    [ $status = "$wanted" ] || { cat "$work/out" "$work/err" >&2; failed "status $status, not $wanted: $*"; }
}

says() {
    grep -q -- "$1" "$work/out" "$work/err" || { cat "$work/out" "$work/err" >&2; failed "does not say: $1"; }
}

"$reflector" --listen 127.0.0.1 --port 0 --one-way >"$work/ready" &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
    [ -s "$work/ready" ] && break
    sleep 0.1
done
port=$(sed 's/.*://' "$work/ready")
oneway="--udp $port --oneway"

expect 0 "$cping" --help
says "^usage: cping"
expect 0 "$cping" --version
expect 64 "$cping"
expect 64 "$cping" --nonsense 127.0.0.1
expect 64 "$cping" -c 0 127.0.0.1
expect 64 "$cping" -i 0.0001 127.0.0.1
expect 64 "$cping" -c 1 -i 0 127.0.0.1
says "-i is at least 0.001, except with -f"
expect 64 "$cping" -c 1 -i 1e-10 127.0.0.1
expect 64 "$cping" -c +5 127.0.0.1
expect 64 "$cping" -i " 1" 127.0.0.1
expect 64 "$cping" -i 0x1 127.0.0.1
expect 64 "$cping" --threads 0 127.0.0.1
expect 64 "$cping" --udp 4440 127.0.0.1
expect 64 "$cping" --udp 4440 --token AAAA 127.0.0.1
expect 64 "$cping" --udp 4440 --token AAAAAAAAAAAAAAAAAAAAAA== --oneway 127.0.0.1
expect 64 "$cping" -4 -6 127.0.0.1
says "-4 and -6 exclude each other"
expect 64 "$cping" -F "$work/one" -F "$work/two"
says "-F can be given once"
expect 2 "$cping" $oneway -6 127.0.0.1
says "is no IPv6 address"
expect 2 "$cping" $oneway -I nosuchinterface 127.0.0.1
says "no network interface nosuchinterface"
expect 2 "$cping" $oneway -F /nonexistent/file

# Answered, in words and as JSON; targets from standard input.
expect 0 "$cping" $oneway -c 5 -i 0.02 127.0.0.1
says "5 sent, 5 answered, 0 lost, 0.00 % loss\|not sent"
says "^  rtt  min"
echo "127.0.0.1 # a comment" >"$work/list"
expect 0 "$cping" $oneway -c 3 -i 0.02 --json -F - <"$work/list"
says '"slot":0,"sequence":[0-9]*,"verdict":"answered","slot_ns":'
says '"summary":{"target":"127.0.0.1","address":"127.0.0.1","interim":false,"sent":'
says '"ipdv_up_ns":{"count":'
[ "$(grep -c '"slot"' "$work/out")" -ge 1 ] || failed "no line for a ping"

# What the host granted.
expect 0 "$cping" $oneway -v -c 1 127.0.0.1
says "^cping: scheduling: \(SCHED_FIFO\|the usual (SCHED_FIFO: .*)\); timer slack: [0-9]* ns; changes of the network: "
expect 0 "$cping" $oneway -v --no-realtime -c 1 127.0.0.1
says "^cping: scheduling: the usual, as asked for; "
expect 0 "$cping" $oneway -v -f -q -c 1 127.0.0.1
says "^cping: scheduling: the usual, as asked for; "

# What is wrong in a file is said with its line, and the other targets are pinged.
{ echo 127.0.0.1; echo; head -c 100000 /dev/zero | tr '\0' x; echo; echo "127.0.0.1 127.0.0.2"; echo ::1; printf '127.0.0.\0001\n'
  echo "  127.0.0.1 # a comment"; } >"$work/list"
expect 1 "$cping" $oneway -4 -c 2 -i 0.02 -F "$work/list"
says "^cping: $work/list:3: the line is longer than 1000 bytes$"
says "^cping: $work/list:4: there is more than one target in the line$"
says "^cping: $work/list:5: ::1: is no IPv4 address$"
says "^cping: $work/list:6: the line holds a zero byte$"
[ "$(wc -l <"$work/err")" = 4 ] || { cat "$work/err" >&2; failed "not one line for each mistake"; }
[ "$(grep -c "2 sent, 2 answered" "$work/out")" = 2 ] || failed "not two targets"

# Flooding: each ping has its verdict.
expect 0 "$cping" $oneway -f -q -c 20000 127.0.0.1
says "20000 sent, 20000 answered"

# Several threads: targets that are not theirs are no loss, and the summaries are in the order of the targets.
expect 0 "$cping" $oneway -f -q -c 5000 --threads 3 127.0.0.1 127.0.0.1 localhost 127.0.0.1
[ "$(grep -c "5000 sent, 5000 answered" "$work/out")" = 4 ] || failed "not four targets with 5000 answers"
[ "$(grep -n "^localhost" "$work/out" | cut -d: -f1)" -gt "$(grep -n "^127.0.0.1" "$work/out" | sed -n 2p | cut -d: -f1)" ] ||
    failed "summaries out of order"
expect 0 "$cping" $oneway -c 20 -i 0.01 --json --threads 9 127.0.0.1 127.0.0.1
# Lines of two threads are never mixed up. (Slots that were missed in a row share one.)
[ "$(grep -c '^{"target".*"slot":' "$work/out")" -ge 2 ] || failed "no lines for pings"
! grep -v '^{"summary":{' "$work/out" | grep -qv '^{"target":[^{}]*}$' || failed "a line is broken"

# One that answers, one that does not.
expect 1 "$cping" $oneway -c 2 -i 0.02 -W 0.2 -q 127.0.0.1 127.0.0.2

# The token of RTR pings (nobody signed this one: silence is all that comes).
expect 1 "$cping" --udp "$port" --token AAAAAAAAAAAAAAAAAAAAAA== -c 4 -i 0.02 -W 0.2 127.0.0.1
says "slot 3 sequence [0-9]* lost"
says "outage .* goes on for"

# Interim summary: pings under way are not lost.
"$cping" --udp "$port" --token AAAAAAAAAAAAAAAAAAAAAA== -q -W 60 -i 0.05 127.0.0.1 >"$work/out" 2>"$work/err" &
pinger=$!
sleep 0.7
kill -QUIT $pinger
sleep 0.3
says "so far: 127.0.0.1"
says ", 0 answered, 0 lost, 0.00 % loss, [0-9]* under way"
kill -INT $pinger
wait $pinger
[ $? = 1 ] || failed "status after SIGINT"
says "cancelled"

# A signal ends all threads.
"$cping" $oneway -q -i 0.05 --threads 2 127.0.0.1 127.0.0.1 >"$work/out" 2>"$work/err" &
pinger=$!
sleep 1
kill -INT $pinger
wait $pinger || failed "status after SIGINT with threads"

# The deadline ends it.
expect 0 "$cping" $oneway -w 0.5 -i 0.05 -q 127.0.0.1
echo passed
