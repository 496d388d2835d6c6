#!/usr/bin/env bash
# The report page in headless Chromium: ./run.sh BIDILEL [SCREENSHOTS]. Missing tools are installed (Debian, npm).
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
program="$(realpath "$1")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
shots="${2:-$work/shots}"
mkdir -p "$shots"

if ! command -v chromium >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi
cp "$here/package.json" "$here/page.mjs" "$work"
(cd "$work" && npm install --silent --no-audit --no-fund)

# Pictures, a search, a comparison; every other kind of result; then classes whose names are HTML, and as many points as CUB has
# instances.
cd "$work"
"$program" demo --quiet --no-page --report demo.html --plots plots >/dev/null
"$program" evaluate builtin:emoji --quiet --run-data run.json >/dev/null
"$program" compare builtin:emoji --quiet --methods eszsl,rr,conse --format json >compare.json
"$program" tune builtin:emoji --quiet --alpha 1,10,100 --dim 30,60 --trials 2 --format json >tune.json
"$program" report run.json compare.json tune.json --quiet --out all.html >/dev/null
"$program" evaluate builtin:emoji --generalized --test-seen-share 0.2 --calibrate --quiet --report generalized.html >/dev/null
"$program" evaluate builtin:emoji --open-set --random-splits 2 --quiet --report open.html >/dev/null
"$program" report tune.json --quiet --out tune.html >/dev/null
"$program" compare builtin:emoji --quiet --methods best,eszsl --report compare.html >/dev/null
"$program" compare builtin:emoji --quiet --methods eszsl,rr --generalized --test-seen-share 0.2 --report sides.html >/dev/null
"$program" select synthetic:small --quiet --report select.html >/dev/null
node page.mjs make-large run.json large.json 200 0.8
node page.mjs make-large run.json heap.json 50 0.1
node page.mjs make-large run.json short.json 10 0.8
"$program" report large.json --quiet --out large.html >/dev/null
"$program" report heap.json --quiet --out heap.html >/dev/null
"$program" report short.json --quiet --out short.html >/dev/null
node page.mjs check "$work" "$shots"
