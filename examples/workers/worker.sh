#!/bin/sh
# A worker in sh: carries out calls of workflows (pawl_call) over HTTP.  It needs curl and jq.
#
#   sh worker.sh <folder>                                    # at http://127.0.0.1:7295/api
#   PAWL_BASE_URL=https://pawl.example.org/api PAWL_TOKEN=... sh worker.sh <folder>
#
# Each program in the folder is the function of that name.  It reads the call's data as JSON from standard input, which is
# empty if there is none, and writes its result as JSON to standard output, or nothing.  Exit code 0 is success, 100 fails
# the call for good, and any other code fails the attempt.  Its standard error is the error message.  PAWL_WORKFLOW,
# PAWL_INSTANCE_ID, PAWL_RUN_NUMBER, PAWL_STEP and PAWL_ATTEMPT are in its environment.
#
# A call may be carried out more than once: if a worker dies, is too slow, or fails.  $PAWL_INSTANCE_ID and $PAWL_STEP are
# the same each time, so together they make a good key for effects that must happen only once.  A worker does one job at a
# time.  Start as many workers as you like.
#
# (Results are passed on unchanged.  Data passes through jq, which rounds numbers beyond 2^53 before version 1.7.)
set -u

folder=${1:?"usage: worker.sh <folder of programs>"}
api=${PAWL_BASE_URL:-http://127.0.0.1:7295/api}
lease_s=${PAWL_LEASE_S:-30} # a dead worker is noticed after this time
wait_s=20                   # how long the server may keep a claim waiting for a job
pause_max_s=30

for tool in curl jq; do
    command -v "$tool" >/dev/null || { echo "worker.sh needs $tool" >&2; exit 2; }
done
scratch=$(mktemp -d) || exit 1
token='' function='' current='' stopping=''
trap 'rm -rf "$scratch"' EXIT
# Stops waiting for a job at once.  A job under way is finished and reported first.
trap 'stopping=yes; [ -n "$token" ] || [ -z "$current" ] || kill "$current" 2>/dev/null' TERM INT

# The token is in a file, because everybody can read command lines.
{
    echo 'Content-Type: application/json'
    [ -z "${PAWL_TOKEN:-}" ] || echo "Authorization: Bearer $PAWL_TOKEN"
} >"$scratch/headers"
unset PAWL_TOKEN # the programs must not see it
find "$folder/" -type f -perm -u=x | sed 's|.*/||' |
    jq -Rn "{functions: [inputs], leaseMs: ${lease_s}000, waitMs: ${wait_s}000}" >"$scratch/claim"
echo "{\"leaseMs\": ${lease_s}000}" >"$scratch/lease"

# await <process>: returns its exit code, even if signals arrive meanwhile
await() {
    while :; do
        wait "$1"
        code=$?
        if [ "$code" -le 128 ] || ! kill -0 "$1" 2>/dev/null; then return "$code"; fi
    done
}

# post <route> <body> <file for the answer>: writes the status to standard output.  It execs curl: call it in a subshell
post() {
    exec curl -s -m $((wait_s + 10)) -o "$3" -w '%{http_code}' \
        -H "@$scratch/headers" --data-binary "@$2" "$api$1"
}

# ask <route> <body>: repeats the request until the server answers, with growing pauses; sets $status
ask() {
    pause_s=1
    while :; do
        post "$1" "$2" "$scratch/answer" >"$scratch/status" &
        current=$!
        # A signal that came before $current was set found no process to end.
        [ -z "$stopping" ] || [ -n "$token" ] || kill "$current" 2>/dev/null
        await "$current"
        status=$(cat "$scratch/status")
        case $status in
        '' | 000 | 429 | 5*) ;;
        *) return ;;
        esac
        [ -z "$stopping" ] || exit 0
        echo "the server is away ($status)" >&2
        sleep "$pause_s" &
        current=$!
        await "$current"
        pause_s=$((pause_s * 2 < pause_max_s ? pause_s * 2 : pause_max_s))
    done
}

# keep <program>: renews the lease while the worker lives, and ends the program if the job is lost
keep() {
    trap 'kill $! 2>/dev/null; exit' TERM
    while sleep $(((lease_s + 2) / 3)) & wait $! && kill -0 $$ 2>/dev/null; do
        if [ "$(post "/jobs/$token/heartbeat" "$scratch/lease" /dev/null)" = 409 ]; then
            kill "$1"
            return
        fi
    done
}

# fail <name> <retry: true or false> <file with the message>
fail() {
    tail -c 2000 "$3" | jq -Rs --arg name "$1" --argjson retry "$2" '{name: $name, message: ., retry: $retry}' \
        >"$scratch/body"
    ask "/jobs/$token/fail" "$scratch/body"
}

# succeed: reports the program's output as the result; the server checks that it is JSON
succeed() {
    if [ -s "$scratch/result" ]; then
        { printf '{"result": ' && cat "$scratch/result" && printf '}'; } >"$scratch/body"
    else
        echo '{}' >"$scratch/body"
    fi
    ask "/jobs/$token/complete" "$scratch/body"
    case $status in
    200 | 409) ;;
    *) cp "$scratch/answer" "$scratch/errors" && fail ResultRefused false "$scratch/errors" ;;
    esac
}

# work: carries out the job in $scratch/job
work() {
    eval "$(jq -r '@sh "token=\(.token) function=\(.function) PAWL_WORKFLOW=\(.workflowName) PAWL_STEP=\(.step)
        PAWL_INSTANCE_ID=\(.instanceId) PAWL_RUN_NUMBER=\(.runNumber) PAWL_ATTEMPT=\(.attempt)"' "$scratch/job")"
    export PAWL_WORKFLOW PAWL_INSTANCE_ID PAWL_RUN_NUMBER PAWL_STEP PAWL_ATTEMPT
    echo "$function for $PAWL_INSTANCE_ID, attempt $PAWL_ATTEMPT"
    jq 'if has("data") then .data else empty end' "$scratch/job" >"$scratch/data"
    "$folder/$function" <"$scratch/data" >"$scratch/result" 2>"$scratch/errors" &
    program=$!
    keep "$program" >/dev/null 2>&1 &
    keeper=$!
    await "$program"
    case $? in
    0) succeed ;;
    100) fail "$function" false "$scratch/errors" ;;
    *) fail "$function" true "$scratch/errors" ;;
    esac
    kill "$keeper" 2>/dev/null
    token=''
}

while [ -z "$stopping" ]; do
    ask /jobs/claim "$scratch/claim"
    if [ "$status" != 200 ]; then
        echo "the server gives no jobs: $status $(cat "$scratch/answer")" >&2
        exit 1
    fi
    jq '.jobs[0] // empty' "$scratch/answer" >"$scratch/job"
    [ ! -s "$scratch/job" ] || work
done
