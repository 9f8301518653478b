#!/bin/sh
# Tries a package or the single file on two Debian systems without Node, Rust or git, each with a network of its own and a wire between
# them: installs, makes a network, joins it, and uses ping, a name, a service and the page; then stops, and purges the package.
#
#     packaging/debian/try.sh dist/mesh_VERSION_amd64.deb
#     packaging/debian/try.sh dist/mesh-linux-x64
#
# Needs root and mmdebstrap. The first run makes the system that later runs unpack, in $MESH_DEBIAN_CACHE or
# ~/.cache/mesh/debian; MESH_DEBIAN_SUITE chooses the release. Ends with 77, and the reason, where this machine cannot do it.
set -eu

subject=${1:?usage: try.sh PACKAGE.deb or FILE}
suite=${MESH_DEBIAN_SUITE:-bookworm}
cache=${MESH_DEBIAN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mesh/debian}

skip() { echo "skipped: $1"; exit 77; }
[ "$(id -u)" = 0 ] || skip 'chroots and network namespaces need root'
for tool in mmdebstrap ip curl ping; do command -v $tool >/dev/null || skip "$tool is not installed"; done
[ -c /dev/net/tun ] || skip 'there is no /dev/net/tun'

id=mesht$$
work=$(mktemp -d "${TMPDIR:-/tmp}/mesh-try-XXXXXX")
ip netns add "$id-a" 2>/dev/null || { rm -rf "$work"; skip 'this machine does not allow network namespaces'; }

finish() {
  status=$?
  [ $status = 0 ] || for host in a b; do echo "--- node $host"; tail -n 20 "$work/$host.log" 2>/dev/null || true; done
  for host in a b; do end $host || true; ip netns del "$id-$host" 2>/dev/null || true; done
  rm -rf "$work"
  exit $status
}
trap finish EXIT
trap 'exit 1' INT TERM

# in DIRECTORY of a host: its network, its files, its /proc and /dev; the mounts are gone with the command
inside() {
  host=$1; shift
  ip netns exec "$id-$host" unshare --uts --mount sh -c '
    root=$1; name=$2; shift 2
    hostname "$name"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" "$@"' sh "$work/$host" "$host" "$@"
}

# what the host itself may lack runs from here, in its network
beside() { host=$1; shift; ip netns exec "$id-$host" "$@"; }

within() {
  seconds=$1; shift
  until "$@" >"$work/said" 2>&1; do
    seconds=$((seconds - 1))
    [ $seconds -gt 0 ] || { echo "failed: $*"; cat "$work/said"; return 1; }
    sleep 1
  done
}

# ends what runs in the network of a host, and waits for it
end() {
  ip netns pids "$id-$1" 2>/dev/null | xargs -r kill
  [ ! -s "$work/$1.pid" ] || wait "$(cat "$work/$1.pid")" || true
  rm -f "$work/$1.pid"
}

step() { echo "$(($(date +%s) - began)) s: $*"; }
began=$(date +%s)

archive=$cache/$suite.tar
if [ ! -s "$archive" ]; then
  step "making a Debian $suite"
  mkdir -p "$cache"
  # with what apt would fetch beside the package
  mmdebstrap --quiet --variant=essential --include=libatomic1,libstdc++6,debconf "$suite" "$archive.$$.tar" >"$work/said" 2>&1 ||
    { reason=$(tail -n 1 "$work/said"); rm -f "$archive.$$.tar"; skip "mmdebstrap made no Debian: $reason"; }
  mv "$archive.$$.tar" "$archive"
fi

ip netns add "$id-b"
ip link add eth0 netns "$id-a" type veth peer name eth0 netns "$id-b"
for host in a b; do
  mkdir "$work/$host"
  tar --extract --file "$archive" --directory "$work/$host" --exclude './dev/*'
  [ $host = a ] && address=10.99.0.1/24 || address=10.99.0.2/24
  ip -n "$id-$host" link set lo up
  ip -n "$id-$host" address add $address dev eth0
  ip -n "$id-$host" link set eth0 up
  echo 'nameserver 127.0.0.1' >"$work/$host/etc/resolv.conf"
  for absent in node cargo rustc git; do
    if chroot "$work/$host" sh -c "command -v $absent" >/dev/null; then echo "the system has $absent"; exit 1; fi
  done
  case $subject in
    *.deb)
      cp "$subject" "$work/$host/tmp/mesh.deb"
      find "$work/$host" -xdev | sort >"$work/$host.before"
      inside $host env DEBIAN_FRONTEND=noninteractive dpkg --force-unsafe-io --install /tmp/mesh.deb >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
      ;;
    *)
      install -D -m 755 "$subject" "$work/$host/usr/bin/mesh"
      mkdir -p "$work/$host/etc/mesh"
      ;;
  esac
done
step "installed $(inside a mesh --version)"

# -- exactly what a person types
inside a sh -c 'umask 077; mesh -g -b >/etc/mesh/token'
install -m 600 "$work/a/etc/mesh/token" "$work/b/etc/mesh/token"
start() {
  host=$1; shift
  inside $host mesh --token-file /etc/mesh/token --state-dir /var/lib/mesh --private --dns 127.0.0.1:53 "$@" >"$work/$host.log" 2>&1 &
  echo $! >"$work/$host.pid"
}
start a --api --service-add page=127.0.0.1:8080
start b --service-connect page=127.0.0.1:9000

within 30 inside b mesh status --state-dir /var/lib/mesh
within 60 inside b getent ahostsv4 a.mesh
address=$(inside b getent ahostsv4 a.mesh | cut -d' ' -f1 | head -n 1)
step "b has the name a.mesh: $address"
within 30 beside b ping -c 1 -W 2 "$address"
step 'b pings a through the VPN'
beside a curl --fail --silent http://127.0.0.1:8080/ | grep -q '<div id="root">'
step 'a serves its page'
within 30 beside b curl --fail --silent http://127.0.0.1:9000/healthz
step 'b reaches the service of a'

for host in a b; do end $host; done
if beside b ip link show mesh0 >/dev/null 2>&1; then echo 'the interface stayed'; exit 1; fi
step 'stopped; no interface is left'

case $subject in *.deb) ;; *) exit 0 ;; esac
export DEBIAN_FRONTEND=noninteractive
inside a dpkg --purge mesh >/dev/null 2>&1
[ -s "$work/a/etc/mesh/token" ] || { echo 'purging without an answer removed the token'; exit 1; }
inside b sh -c 'echo "mesh mesh/remove-state boolean true" | debconf-set-selections'
inside b dpkg --purge mesh >/dev/null 2>&1
# debconf's and dpkg's own records change with any package, and the home is root's own: its cache of compiled code stays
find "$work/b" -xdev | sort | comm -13 "$work/b.before" - | grep -vE '/var/(cache/debconf|lib/dpkg|log)/|/root/\.cache' >"$work/left" || true
if [ -s "$work/left" ]; then echo 'the package left:'; head -n 20 "$work/left"; exit 1; fi
step 'purged: kept the state on a, left nothing on b'
