#!/usr/bin/env bash
# Start the built wheel and the zipapp in clean environments: smoke.sh WORK PYTHON...
# WORK/dist holds the wheel; WORK/venv has the development tools. Each Python gets a fresh venv without our sources.
set -euo pipefail
work=$1
shift
wheel=$(ls "$work"/dist/*.whl)
record='{"type":"consultation-request","req_id":"REQ-SMOKE-001","author":"a","target":"b","context":"c","question":"d"}'

play() { # play NAME COMMAND... : one slice of life in an empty folder, with nothing of ours on the path
  local name=$1 folder
  shift
  folder=$(mktemp -d "$work/play.XXXX")
  (
    cd "$folder"
    mkdir -p .scratch
    run() { env -i PATH="$PATH" "${command[@]}" "$@"; }
    command=("$@")
    run --version
    printf '%s' "$record" | run append consultation-request
    run validate --require-seal
    run route >route.json
    run view --no-cost --no-color >/dev/null
    run init --harness claude >/dev/null
    run init --harness claude >/dev/null
    env -i PATH="$PATH" python3 scripts/handoff.py latest --type consultation-request >/dev/null
    run init --uninstall >/dev/null
    run demo >/dev/null
  )
  echo "$name works"
}

# The zipapp is the wheel's content with a line that starts it.
"$work/venv/bin/python" - "$wheel" "$work/pyz" <<'PY'
import sys, zipfile
zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])
PY
rm -rf "$work"/pyz/*.dist-info
"$work/venv/bin/python" -m zipapp "$work/pyz" -m handoff_core.cli:console -o "$work/handoff.pyz"

for python in "$@"; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  "$python" -m venv "$work/clean-$version"
  "$work/clean-$version/bin/python" -m pip -q --disable-pip-version-check install --no-index --no-deps "$wheel"
  play "wheel on $version" "$work/clean-$version/bin/handoff"
  play "python -m handoff_core on $version" "$work/clean-$version/bin/python" -m handoff_core
  play "zipapp on $version" "$python" "$work/handoff.pyz"
done
