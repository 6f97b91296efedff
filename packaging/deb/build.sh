#!/usr/bin/env bash
# Makes driver-sync_VERSION_ARCHITECTURE.deb: the agent, what it needs from npm, and a Node of its own, since no distribution ships one
# that is new enough. Needs npm, dpkg-deb and what `npm ci` brings; runs in a checkout that was built (`npm run build`).
#
#   packaging/deb/build.sh [--version VERSION] FOLDER      writes the package there and prints its path
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
if [ "${1-}" = --version ]; then
  version=$2
  shift 2
fi
if [ $# -ne 1 ]; then
  echo "usage: $0 [--version VERSION] FOLDER" >&2
  exit 64
fi
if [ ! -f dist/main.js ]; then
  echo "$0: there is no dist/main.js; run \"npm run build\" first" >&2
  exit 1
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
node=$PWD/node_modules/.bin/node
root=$scratch/root
home=$root/usr/lib/driver-sync

# As npm would publish it, with the packages that users would install beside it: clients of databases, and what the agent tools of the
# emulator ask for. DuckDB is left out: it is larger than all the rest.
npm pack --silent --ignore-scripts --pack-destination "$scratch" >/dev/null
mkdir -p "$home"
tar -xzf "$scratch"/driver-sync-*.tgz -C "$home" --strip-components=1
cp package-lock.json .npmrc "$home/"
(
  cd "$home"
  mapfile -t peers < <("$node" -p '
    Object.entries(require("./package.json").peerDependencies)
      .filter(([name]) => name !== "@duckdb/node-api")
      .map(([name, range]) => `${name}@${range}`)
      .join("\n")')
  npm pkg delete devDependencies peerDependencies peerDependenciesMeta scripts
  npm pkg set "version=$version"
  npm install --ignore-scripts --prefer-offline --loglevel=error "${peers[@]}" >/dev/null
  rm package-lock.json .npmrc
)
install -m 0755 -D node_modules/node/bin/node "$home/node"
install -m 0755 -D "$here/driver-sync" "$root/usr/bin/driver-sync"

# The unit as the package of npm has it, and what a user of its own changes in it.
install -m 0644 -D systemd/driver-sync.service "$root/lib/systemd/system/driver-sync.service"
install -m 0644 -D "$here/user.conf" "$root/lib/systemd/system/driver-sync.service.d/user.conf"
install -m 0644 -D "$here/sysusers.conf" "$root/usr/lib/sysusers.d/driver-sync.conf"
install -m 0640 -D "$here/config.yaml" "$root/etc/driver-sync/config.yaml"

# What is made of the definitions of the commands.
share=$root/usr/share
mkdir -p "$share/man/man1"
gzip -9 -n <man/driver-sync.1 >"$share/man/man1/driver-sync.1.gz"
completion() { "$node" bin/driver-sync.js completion "$1" | install -m 0644 -D /dev/stdin "$share/$2"; }
completion bash bash-completion/completions/driver-sync
completion zsh zsh/vendor-completions/_driver-sync
completion fish fish/vendor_completions.d/driver-sync.fish

mkdir -p "$share/doc/driver-sync"
mv "$home/docs" "$home/README.md" "$home/CHANGELOG.md" "$share/doc/driver-sync/"
mv "$home/LICENSE" "$share/doc/driver-sync/copyright"
rm -rf "$home/systemd" "$home/man"

# A pre-release comes before its release: 1.0.0-rc.1 is 1.0.0~rc.1 to dpkg.
dpkg_version=${version/-/\~}
architecture=$(dpkg --print-architecture)
mkdir "$root/DEBIAN"
sed -e "s/@VERSION@/$dpkg_version/" -e "s/@ARCHITECTURE@/$architecture/" \
  -e "s/@SIZE@/$(du -sk --apparent-size "$root" | cut -f 1)/" "$here/control" >"$root/DEBIAN/control"
echo /etc/driver-sync/config.yaml >"$root/DEBIAN/conffiles"
install -m 0755 "$here"/{postinst,prerm,postrm} "$root/DEBIAN/"

chmod -R u+rwX,go+rX,go-w "$root/usr" "$root/lib"
# The same tree gives the same package.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH
deb=$out/driver-sync_${dpkg_version}_$architecture.deb
dpkg-deb --root-owner-group -Zzstd --build "$root" "$deb" >/dev/null
echo "$deb"
