#!/bin/sh
# A wrapper of rustc (RUSTC_WRAPPER) that instruments the crates that read files, for libFuzzer, and leaves the rest alone:
# linear algebra, pictures and kernels of networks take many times as long to compile, and no target is about them.
set -eu
rustc=$1
shift
crate=
previous=
for argument in "$@"; do
    if [ "$previous" = --crate-name ]; then crate=$argument; fi
    previous=$argument
done
case $crate in
bidilel | bidilel_data | bidilel_fuzz | bidilel_vision | csv | csv_core | flate2 | hdf5_pure | journal | miniz_oxide | \
    onnx_graph | parquet | rten | rten_onnx | safetensors | serde_json | toml | toml_parser | zip)
    exec "$rustc" "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
        -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebuginfo=1
    ;;
esac
exec "$rustc" "$@"
