#!/bin/sh
# preview.sh STATE CONFIG COMMENT: what "sync" would do with CONFIG, as Markdown in the file COMMENT. Sends nothing.
#
# STATE is a copy of the agent's state directory, such as the last backup; it is left as it is. The config has to say
#   state: ${DRIVER_SYNC_STATE:-/var/lib/driver-sync}
# COMMENT is written whatever happens. Where there is no preview it says so. Ends with 0 for a whole preview, else with the
# code of "plan": 3 where a source was not read, 4 where something is held or blocked.
set -u
state=$1 config=$2 comment=$3
scratch=$(mktemp -d) || exit 75
trap 'rm -rf "$scratch"' EXIT

loud() {
  cat >"$comment" <<TEXT
<!-- driver-sync -->
### driver-sync: the preview could not be made

> [!CAUTION]
> **Nobody knows what this would change.** $1
TEXT
}

if [ ! -f "$state/ledger.db" ]; then
  # Without it every driver would look new, and no delete would be seen.
  loud 'The job found no copy of the state directory of the agent.'
  exit 78
fi
mkdir "$scratch/state" && cp -R "$state/." "$scratch/state" || { loud 'The job could not copy the state.'; exit 75; }

DRIVER_SYNC_STATE=$scratch/state driver-sync plan --config "$config" --format markdown >"$scratch/comment"
code=$?
if [ -s "$scratch/comment" ]; then
  cp "$scratch/comment" "$comment"
else
  loud "The command ended with $code and printed nothing: see the log of the job."
  [ "$code" -ne 0 ] || code=1
fi
# 2 says that there are changes, which is what a preview is for.
[ "$code" -ne 2 ] || code=0
exit "$code"
