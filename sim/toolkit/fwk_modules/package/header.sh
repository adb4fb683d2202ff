#!/bin/sh
# A self-extracting op package. Without options it unpacks itself aside and runs install.sh there.
#
#   --extract=DIR          only unpack, into DIR
#   --check                only check that the archive is whole
#   --list                 only list what is in it
#   --install-path=DIR, --quiet, ...   go to install.sh
set -eu
checksum=@SHA256@
payload() { sed '1,/^__PAYLOAD__$/d' "$0"; }

if [ "$(payload | sha256sum | cut -d' ' -f1)" != "$checksum" ]; then
    echo "$0: the archive is damaged: its checksum differs; copy or build it again" >&2
    exit 1
fi
case ${1:-} in
    --check) exit 0 ;;
    --list) payload | tar -tz; exit 0 ;;
    --extract=*) mkdir -p "${1#*=}"; payload | tar -xz -C "${1#*=}"; exit 0 ;;
esac
directory=$(mktemp -d "${TMPDIR:-/tmp}/npu_op_package.XXXXXX")
trap 'rm -rf "$directory"' EXIT
payload | tar -xz -C "$directory"
"$directory/install.sh" "$@"
exit 0
__PAYLOAD__
