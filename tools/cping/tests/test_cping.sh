#!/bin/sh
# The program over loopback, with the one-way format: it needs no privilege. Usage: test_cping.sh CPING REFLECTOR
cping=$1 reflector=$2
work=$(mktemp -d)
trap 'kill $server $pinger 2>/dev/null; rm -rf "$work"' EXIT

failed() {
    echo "failed: $*" >&2
    cat "$work/out" "$work/err" >&2
    exit 1
}

# expect STATUS COMMAND...: output goes to $work/out and $work/err.
expect() {
    wanted=$1
    shift
    "$@" >"$work/out" 2>"$work/err"
    status=$?
    [ $status = "$wanted" ] || failed "status $status, not $wanted: $*"
}

said() { grep -q -- "$1" "$work/out" "$work/err"; }
says() { said "$1" || failed "does not say: $1"; }

# until_ COMMAND...: ten seconds at most.
until_() {
    left=200
    while ! "$@"; do
        left=$((left - 1))
        [ $left -gt 0 ] || failed "in vain: $*"
        sleep 0.05
    done
}

start() {
    : >"$work/out"
    "$cping" "$@" >"$work/out" 2>"$work/err" &
    pinger=$!
}

"$reflector" --listen 127.0.0.1 --port 0 --one-way >"$work/ready" &
server=$!
until_ [ -s "$work/ready" ]
port=$(sed 's/.*://' "$work/ready")
oneway="--udp $port --oneway"
token="--token AAAAAAAAAAAAAAAAAAAAAA=="

# Usage.
expect 0 "$cping" --help
says "^usage: cping"
expect 64 "$cping"
says "a target is missing"
expect 64 "$cping" --nonsense 127.0.0.1
for number in 0 +5 -1 1x "" 99999999999999999999; do expect 64 "$cping" -c "$number" 127.0.0.1; done
for seconds in 0.0001 0 1e-10 " 1" 0x1 -1 86401 inf nan ""; do expect 64 "$cping" -c 1 -i "$seconds" 127.0.0.1; done
expect 64 "$cping" -c 1 -i 0.0009 127.0.0.1
says "-i is at least 0.001, except with -f"
expect 64 "$cping" -W 0 127.0.0.1
expect 64 "$cping" -f --window 65537 127.0.0.1
expect 64 "$cping" --window 5 127.0.0.1
says "--window is for -f"
expect 64 "$cping" -I an-interface-name 127.0.0.1
expect 64 "$cping" --udp 65536 --oneway 127.0.0.1
expect 64 "$cping" --udp 4440 127.0.0.1
says "--udp needs --token or --oneway"
expect 64 "$cping" --oneway 127.0.0.1
expect 64 "$cping" --udp 4440 --token AAAA 127.0.0.1
expect 64 "$cping" --udp 4440 --token 'AAAAAAAAAAAAAAAAAAAA*A==' 127.0.0.1
expect 64 "$cping" --udp 4440 $token --oneway 127.0.0.1
says "--token and --oneway exclude each other"

# Runs that must fail.
expect 2 "$cping" $oneway -I nosuchinterface 127.0.0.1
says "^cping: 127.0.0.1: .*no network interface nosuchinterface"
unknown=$(head -c 70 /dev/zero | tr '\0' x)  # too long for the resolver
expect 2 "$cping" $oneway "$unknown"
says "^cping: $unknown: "
"$cping" $oneway -c 1 127.0.0.1 >/dev/full 2>"$work/err"
[ $? = 2 ] || failed "status with a full standard output"
says "^cping: standard output: "

# Answered, as text and as JSON. (Slots that a busy host missed in a row share a line.)
expect 0 "$cping" $oneway -c 5 -i 0.2 -W 10 127.0.0.1
says "^127.0.0.1: slot [0-9]* answered [0-9.]* ms"
says "[1-5] sent, [1-5] answered, 0 lost, .*0.00 % loss"
says "^  rtt  min [0-9.]*  mean [0-9.]*  max [0-9.]* ms$"
expect 0 "$cping" $oneway -c 5 -i 0.2 -W 10 --json 127.0.0.1 localhost
says '^{"target":"127.0.0.1","address":"127.0.0.1","slot":[0-9]*,"sequence":[0-9]*,"verdict":"answered","slot_ns":[0-9]*,"event_ns":[0-9]*,"sent_ns":[0-9]*,"rtt_ns":[0-9]*,.*"up_ns":'
says '^{"summary":{"target":"127.0.0.1","address":"127.0.0.1","sent":[0-9]*,"answered":[0-9]*,"lost":0,.*"rtt_ns":{"min":'
says '^{"summary":{"target":"localhost","address":"127.0.0.1",'
! grep -v '^{"summary":{' "$work/out" | grep -qv '^{"target":[^{}]*}$' || failed "a line is broken"

# Flooding: each ping has its verdict, for any window.
expect 0 "$cping" $oneway -f -q -W 10 -c 20000 127.0.0.1
says "20000 sent, 20000 answered"
expect 0 "$cping" $oneway -f -q -W 10 -c 2000 --window 1 127.0.0.1 localhost 127.0.0.1
[ "$(grep -c "2000 sent, 2000 answered" "$work/out")" = 3 ] || failed "not three targets with 2000 answers"
[ "$(grep "^[^ ]" "$work/out" | cut -d' ' -f1 | tr '\n' ' ')" = "127.0.0.1 localhost 127.0.0.1 " ] || failed "summaries out of order"

# One target that answers, and one that does not.
expect 1 "$cping" $oneway -c 5 -i 0.2 -W 0.5 -q 127.0.0.1 127.0.0.2
says "[1-5] ICMP errors"

# A reflector on all addresses answers from the one that was asked.
"$reflector" --listen 0.0.0.0 --port 0 --one-way >"$work/everywhere" &
everywhere=$!
until_ [ -s "$work/everywhere" ]
expect 0 "$cping" --udp "$(sed 's/.*://' "$work/everywhere")" --oneway -c 3 -i 0.1 -W 5 -q 127.0.0.9
says "3 sent, 3 answered"
kill $everywhere

# RTR pings with a token that has no signature: the reflector stays silent.
expect 1 "$cping" --udp "$port" $token -c 4 -i 0.2 -W 0.2 127.0.0.1
says "^127.0.0.1: slot [0-9]* lost"
says " 0 answered, [1-4] lost, .*100.00 % loss"

# The first signal ends sending and waits for the verdicts; the second does not.
start --udp "$port" $token -i 0.05 -W 0.5 127.0.0.1
until_ said "^127.0.0.1: slot [0-9]* lost"
kill -INT $pinger
wait $pinger
[ $? = 1 ] || failed "status after SIGINT"
says "0 answered, [0-9]* lost, "
! said "under way" || failed "no verdict on a ping"
start --udp "$port" $token -i 0.05 -W 600 127.0.0.1 127.0.0.2
until_ said "^127.0.0.2: slot [0-9]* icmp-error type 3 code 3 from 127.0.0.2"
grep -q "^CapPrm:	0*$" /proc/$pinger/status && grep -q "^NoNewPrivs:	1" /proc/$pinger/status || failed "it has capabilities"
kill -INT $pinger
kill -TERM $pinger
wait $pinger
[ $? = 1 ] || failed "status after two signals"
says "0 answered, 0 lost, [1-9][0-9]* under way"
echo passed
