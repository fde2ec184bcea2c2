#!/usr/bin/env bash
# Validates a ledger for the action beside this file; every input comes through the environment, none is run.
# Ends with validate's exit code, whatever becomes of the summary.
set -u

program="$HANDOFF_ACTION/../../../scripts/handoff.py"
python=${HANDOFF_PYTHON:-python3}
flags=(--allow-missing --root "${HANDOFF_ROOT:-.}")
[ "${HANDOFF_STRICT:-false}" = true ] && flags+=(--strict)
[ "${HANDOFF_REQUIRE_SEAL:-false}" = true ] && flags+=(--require-seal)

"$python" "$program" validate --format github "${flags[@]}"
code=$?

if [ -n "${HANDOFF_SARIF:-}" ]; then
  "$python" "$program" validate --format sarif "${flags[@]}" >"$HANDOFF_SARIF" || true
fi

if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  {
    "$python" "$program" view --markdown --list --no-cost --root "${HANDOFF_ROOT:-.}" || true
    printf '\n'
    "$python" "$program" validate --format json "${flags[@]}" | "$python" "$HANDOFF_ACTION/summary.py"
  } >>"$GITHUB_STEP_SUMMARY" 2>/dev/null
fi

exit "$code"
