#!/bin/sh
# Tries the image with podman: two containers with a network each and a wire between them join a network, ping each other, and
# answer by the page; then what a node says without the device or the capability.
#
#     packaging/container/try.sh localhost/mesh:latest
#
# Ends with 77, and the reason, where no container starts.
set -eu

image=${1:?usage: try.sh IMAGE}

skip() { echo "skipped: $1"; exit 77; }
[ "$(id -u)" = 0 ] || skip 'network namespaces need root'
for tool in podman ip curl ping; do command -v $tool >/dev/null || skip "$tool is not installed"; done

# some machines have no systemd for the health check, and forbid other limits than their own
options="--rm --pull=never --no-healthcheck --ulimit nofile=$(ulimit -n):$(ulimit -n) --ulimit nproc=1000:1000"
runtime=
for candidate in crun runc; do
  if podman --runtime $candidate run $options --network=none "$image" --version >/dev/null 2>&1; then runtime=$candidate; break; fi
done
[ -n "$runtime" ] || skip 'no container starts, by crun or runc'
podman="podman --runtime $runtime"

id=meshc$$
work=$(mktemp -d "${TMPDIR:-/tmp}/mesh-try-XXXXXX")
finish() {
  status=$?
  [ $status = 0 ] || for host in a b; do echo "--- node $host"; $podman logs "$id-$host" 2>&1 | tail -n 20; done
  for host in a b; do
    $podman stop --time 10 "$id-$host" >/dev/null 2>&1 || true
    $podman rm --force --ignore "$id-$host" >/dev/null 2>&1 || true
    ip netns del "$id-$host" 2>/dev/null || true
  done
  rm -rf "$work"
  exit $status
}
trap finish EXIT
trap 'exit 1' INT TERM

within() {
  seconds=$1; shift
  until "$@" >"$work/said" 2>&1; do
    seconds=$((seconds - 1))
    [ $seconds -gt 0 ] || { echo "failed: $*"; cat "$work/said"; return 1; }
    sleep 1
  done
}

says() {
  text=$1; shift
  $podman run $options --network=none --env "MESHTOKEN=$token" "$@" >"$work/said" 2>&1 || true
  grep -q -- "$text" "$work/said" || { echo "nothing of '$text':"; cat "$work/said"; exit 1; }
}

# as udev makes it; that of this machine may be root's alone
mknod --mode=666 "$work/tun" c 10 200
device="--device $work/tun:/dev/net/tun"
token=$($podman run $options --network=none "$image" -g -b)

ip netns add "$id-a"
ip netns add "$id-b"
ip link add eth0 netns "$id-a" type veth peer name eth0 netns "$id-b"
for host in a b; do
  [ $host = a ] && address=10.99.0.1/24 || address=10.99.0.2/24
  ip -n "$id-$host" link set lo up
  ip -n "$id-$host" address add $address dev eth0
  ip -n "$id-$host" link set eth0 up
  $podman run $options --detach --name "$id-$host" --network "ns:/run/netns/$id-$host" --cap-add NET_ADMIN \
    $device --env "MESHTOKEN=$token" "$image" --private --name "$host" --api >/dev/null
done

within 30 $podman exec "$id-b" mesh status --json
[ "$($podman exec "$id-b" id -u)" != 0 ] || { echo 'the node is root'; exit 1; }
within 60 $podman exec "$id-b" sh -c 'mesh machines | grep -w a | grep -E "10[.]1[.]"'
address=$(grep -oE '10\.[0-9.]+' "$work/said" | head -n 1)
within 30 ip netns exec "$id-b" ping -c 1 -W 2 "$address"
ip netns exec "$id-a" curl --fail --silent http://127.0.0.1:8080/ | grep -q '<div id="root">'
echo "two containers reach each other, by $runtime, as no root"

says '--cap-add NET_ADMIN --device /dev/net/tun' "$image" --private
says '--cap-add NET_ADMIN --device /dev/net/tun' $device "$image" --private
says '--device /dev/net/tun' --cap-add NET_ADMIN "$image" --private
echo 'a node without the device or the capability says how to give it'
