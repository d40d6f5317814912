#!/usr/bin/env bash
# The simulation's command line: what is wrong is told in one line, with exit code 2, and nothing is played.
#   test_options.sh <command...>     the program, and what starts it
set -u
command=("$@")
failures=0

# expect <exit code> <words that must be printed> <argument...>
expect() {
    local code=$1 words=$2 output got
    shift 2
    output=$(timeout 30 "${command[@]}" "$@" 2>&1)
    got=$?
    if [[ $got -eq $code && $output == *"$words"* ]] && [[ $code -ne 2 || $(wc -l <<<"$output") -eq 1 ]]; then
        return
    fi
    echo "sim $*: exit code $got, expected $code and \"$words\"; it says: $output"
    failures=$((failures + 1))
}

for number in -1 0 "" 7x 1.5 +3 " 3" 1000000000 99999999999999999999999; do
    expect 2 "--seeds \"$number\": right is a whole number from 1 to 999999999" --seeds "$number"
done
for number in -3 x 1000000000000000000 99999999999999999999999; do
    expect 2 "--from \"$number\": right is a whole number from 0 to " --seeds 2 --from "$number"
    expect 2 "--seed \"$number\": right is a whole number from 0 to " --seed "$number"
done
for number in -1 0 16; do
    expect 2 "--jobs \"$number\": right is a whole number from 1 to 15" --seeds 2 --jobs "$number"
done
expect 2 'option "--sedes": there is none of that name' --sedes 3
expect 2 'option "--seeds": a value must follow it' --seeds
expect 2 'option "--rules-in": a value must follow it' --rules-in
expect 2 "say one of --seeds N, --seed S, " --from 3
expect 2 "say one of --seeds N, --seed S, " --seed 3 --seeds 2
expect 0 "seed 7: every invariant holds" --seed 7
expect 0 "2 seeds, " --seeds 2 --from 999999999999999999 --quiet
expect 0 "seed 7: every invariant holds" --seed 7 --sqlite
expect 0 "2 seeds, " --seeds 2 --from 0 --jobs 15 --quiet
for option in --seeds --from --jobs --keep-going --sqlite --quiet --seed -v --transitions --self-test --rules --rules-in --help; do
    expect 0 "  $option " --help
done

[[ $failures -eq 0 ]]
