#!/bin/sh
# Installs the package beside it: into --install-path, else ASCEND_CUSTOM_OPP_PATH, else ASCEND_OPP_PATH.
#
# With --install-path the package is used by sourcing its bin/set_env.bash; otherwise it becomes the first of
# load_priority in vendors/config.ini.
set -eu
vendor=@VENDOR@
arch=@ARCH@
path=
for argument; do
    case $argument in
        --install-path=*) path=${argument#*=} ;;
        --quiet | --force | --install-for-all) ;;
        *) echo "install.sh: unknown option $argument" >&2; exit 2 ;;
    esac
done
fail() { echo "[ERROR] $*" >&2; exit 1; }

case $path in
    '' | /*) ;;
    *) fail "--install-path=$path must be an absolute path" ;;
esac
target=${path:-${ASCEND_CUSTOM_OPP_PATH:-${ASCEND_OPP_PATH:-}}}
[ -n "$target" ] || fail "nowhere to install: give --install-path=DIR, or source the toolkit's set_env.sh"
case $target in
    *:*) fail "ASCEND_CUSTOM_OPP_PATH=$target names several directories; give --install-path=DIR" ;;
esac
[ "$(uname -m)" = "$arch" ] || fail "the package is built for $arch, this machine is $(uname -m)"
mkdir -p "$target/vendors" || fail "$target/vendors cannot be made"
[ -w "$target/vendors" ] || fail "$target/vendors is not writable"

here=$(cd "$(dirname "$0")" && pwd)
installed=$target/vendors/$vendor
for part in framework op_api op_impl op_proto; do
    rm -rf "${installed:?}/$part"
done
mkdir -p "$installed/scripts"
cp -a "$here/packages/vendors/$vendor/." "$installed"
cp "$here/uninstall.sh" "$installed/scripts/uninstall.sh"

if [ -n "$path" ]; then
    mkdir -p "$installed/bin"
    cat >"$installed/bin/set_env.bash" <<END
export ASCEND_CUSTOM_OPP_PATH=$installed:\${ASCEND_CUSTOM_OPP_PATH:-}
export LD_LIBRARY_PATH=$installed/op_api/lib:\${LD_LIBRARY_PATH:-}
END
else
    config=$target/vendors/config.ini
    others=$(sed -n 's/^load_priority=//p' "$config" 2>/dev/null | tr ',' '\n' | grep -vx "$vendor" | paste -sd, -) || true
    echo "load_priority=$vendor${others:+,$others}" >"$config"
fi
echo "SUCCESS"
