#!/bin/sh
# Builds the image `localhost/mesh:VERSION` from a file of `npm run package -- --only binary`, and saves it:
#
#     packaging/container/build.sh dist/mesh-linux-x64 dist/mesh-container-x64.tar
#
# Needs root, mmdebstrap, and podman or docker. The base is Debian from mmdebstrap: no registry of images is asked. Ends with 77,
# and the reason, where this machine cannot do it.
set -eu

binary=${1:?usage: build.sh FILE ARCHIVE}
archive=${2:?usage: build.sh FILE ARCHIVE}
suite=${MESH_DEBIAN_SUITE:-bookworm}
here=$(cd "$(dirname "$0")" && pwd)

skip() { echo "skipped: $1"; exit 77; }
[ "$(id -u)" = 0 ] || skip 'mmdebstrap needs root here'
command -v mmdebstrap >/dev/null || skip 'mmdebstrap is not installed'
if command -v podman >/dev/null; then engine=podman; elif command -v docker >/dev/null; then engine=docker; else skip 'podman or docker is not installed'; fi

work=$(mktemp -d "${TMPDIR:-/tmp}/mesh-image-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

mmdebstrap --quiet --variant=essential --include=libatomic1,libstdc++6,ca-certificates,libcap2-bin \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --customize-hook='rm -rf "$1"/var/cache/apt "$1"/var/lib/apt/lists' \
  "$suite" "$work/rootfs.tar" || skip 'mmdebstrap made no Debian'
cp "$binary" "$work/mesh"
cp "$here/Containerfile" "$here/entrypoint.sh" "$work/"
version=$("$binary" --version)
# podman: the format of docker keeps the health check, and a chroot builds where no runtime starts
options=$([ $engine = podman ] && echo --format=docker --isolation=chroot --network=host || echo --network=none)
$engine build $options --quiet --tag "localhost/mesh:$version" "$work" >/dev/null
$engine tag "localhost/mesh:$version" localhost/mesh:latest
rm -f "$archive"
$engine save --output "$archive" "localhost/mesh:$version"
echo "localhost/mesh:$version"
