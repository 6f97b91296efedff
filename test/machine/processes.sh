# Processes of a story on this machine: a service, agents and servers, each in a group of its own. Needs root. The script that reads this says `agent`, the
# executable, and `here`, its folder; `stop_servers`, where there is one, ends what else it started.
if [ "$(id -u)" -ne 0 ]; then
  echo "$0 takes root" >&2
  exit 1
fi
node=$here/../../node_modules/node/bin/node
postgres=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
as_postgres=(setpriv --reuid postgres --regid postgres --clear-groups)
work=$(mktemp -d)
chmod 755 "$work"
declare -A pid

finish() {
  local code=$?
  [ "$code" -eq 0 ] || tail -n 15 "$work"/*.log >&2 || true
  for group in "${pid[@]}"; do kill -CONT -- "-$group" && kill -KILL -- "-$group"; done 2>/dev/null || true
  stop_servers || true
  wait 2>/dev/null || true
  rm -rf --one-file-system "$work"
  exit "$code"
}
trap finish EXIT

# begin NAME COMMAND...: its output is in NAME.log.
begin() {
  local name=$1
  shift
  setsid "$@" >"$work/$name.log" 2>&1 &
  pid[$name]=$!
}

# until_so WHAT COMMAND...: waits until the command succeeds.
until_so() {
  local what=$1 until=$((SECONDS + 90))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$until" ] || { echo "not so within 90 s: $what" >&2; return 1; }
    sleep 0.5
  done
  printf '%4s s  %s\n' "$SECONDS" "$what"
}

free_port() { "$node" -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'; }

# The service at a port: a line of story/bodies for each push.
begin_service() {
  mkdir "$work/story"
  echo 200 >"$work/story/answer"
  : >"$work/story/bodies"
  begin service "$node" "$here/receiver.mjs" "$work/story" "$1"
}
pushed() { [ "$(wc -l <"$work/story/bodies")" -ge "$1" ]; }

begin_agent() { begin "agent-$1" env STATE="$work/state-$1" "$node" "$agent" run --config "$work/driver-sync.yaml"; }
# A command of the agent that began as `one`.
ask_agent() { STATE=$work/state-one "$node" "$agent" "$@" --config "$work/driver-sync.yaml"; }
