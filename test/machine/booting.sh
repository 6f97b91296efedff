# A Debian with systemd as process 1 of a container, for the scripts beside this file. Needs root, mmdebstrap with a mirror of Debian, and
# systemd-nspawn (Debian: systemd-container).

# make_root FOLDER: Debian 12 with systemd, and nothing that nobody asked for.
make_root() {
  if [ "$(id -u)" -ne 0 ]; then
    echo "booting a machine takes root" >&2
    return 1
  fi
  mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus,ca-certificates bookworm "$1"
}

# boot ROOT STORY [FILE...]: boots it, runs the story there as root, in /story with the files beside it, and turns the machine off. Prints what
# the story prints; 0 where it came to its end within five minutes. ROOT is not good for anything else afterwards.
boot() {
  local root=$1 story=$2
  shift 2
  mkdir -p "$root/story"
  install -m 0755 "$story" "$root/story/run"
  [ $# -eq 0 ] || cp -r "$@" "$root/story/"
  cat >"$root/etc/systemd/system/story.service" <<'UNIT'
[Service]
Type=oneshot
Environment=HOME=/root NO_COLOR=1
WorkingDirectory=/story
ExecStart=/bin/bash -c './run >told 2>&1; echo $? >ended'
ExecStopPost=systemctl poweroff --no-block
[Install]
WantedBy=multi-user.target
UNIT
  systemctl --root="$root" --quiet enable story.service
  # No bus of this machine to register with, and no network but loopback.
  timeout --kill-after=10 300 systemd-nspawn --quiet --directory="$root" --boot --register=no --keep-unit \
    --private-network --console=pipe </dev/null >"$root/console" 2>&1 || true
  if [ ! -s "$root/story/told" ]; then
    echo "the machine did not boot, or told nothing:" >&2
    tail -n 40 "$root/console" >&2
    return 1
  fi
  cat "$root/story/told"
  if [ "$(cat "$root/story/ended" 2>/dev/null)" != 0 ]; then
    echo "the story did not come to its end" >&2
    return 1
  fi
}
