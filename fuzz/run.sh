#!/bin/sh
# Builds the targets with coverage instrumentation and runs some or all of them: run.sh [SECONDS [TARGET...]]
# Inputs that reach something new stay in $FUZZ_WORK (a temporary folder unless it is set), and so do findings.
set -eu
cd "$(dirname "$0")"
seconds=${1:-60}
[ $# -eq 0 ] || shift
triple=$(rustc +nightly -vV | sed -n 's/^host: //p')
work=${FUZZ_WORK:-$(mktemp -d)}
# Address space of one target, in KiB: what asks for more than a file can need must get an error, and not an abort.
address_space=4194304

# The versions that the workspace uses.
[ -e Cargo.lock ] || cp ../Cargo.lock .
RUSTC_WRAPPER=$PWD/instrument.sh RUSTFLAGS="--cfg fuzzing" \
    cargo +nightly build --release --config coverage.toml --target "$triple" --bins
built=${CARGO_TARGET_DIR:-target}/$triple/release

[ $# -gt 0 ] || set -- $(ls fuzz_targets | sed 's/\.rs$//')
printf '%-16s %12s %8s %9s %7s\n' target executions edges features status
for target in "$@"; do
    mkdir -p "$work/$target/corpus" "$work/$target/tmp"
    [ ! -d "corpus/$target" ] || cp "corpus/$target"/* "$work/$target/corpus"
    status=0
    (
        ulimit -v $address_space -c 0
        export TMPDIR="$work/$target/tmp"
        exec "$built/$target" "$work/$target/corpus" -artifact_prefix="$work/$target/" -max_len=16384 \
            -rss_limit_mb=2048 -timeout=10 -max_total_time="$seconds" -print_final_stats=1
    ) 2> "$work/$target/log" || status=$?
    count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target/log")
    reached=$(grep -o 'cov: [0-9]* ft: [0-9]*' "$work/$target/log" | tail -1 | tr -dc '0-9 ')
    # shellcheck disable=SC2086
    printf '%-16s %12s %8s %9s %7s\n' "$target" "${count:--}" ${reached:-- -} "$status"
done
echo "logs, inputs and findings: $work"
