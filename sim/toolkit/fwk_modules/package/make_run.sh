#!/bin/sh
# Packs a directory that holds packages/vendors/<vendor> into one self-extracting file.
#
#   make_run.sh DIRECTORY VENDOR FILE.run
set -eu
stage=$1 vendor=$2 file=$3
here=$(cd "$(dirname "$0")" && pwd)
toolkit=$(cd "$here/../../../../../compiler" && pwd)
version=$(sed -n 's/^Version=//p' "$toolkit/version.info")
tiling=$stage/packages/vendors/$vendor/op_impl/ai_core/tbe/op_tiling

for library in "$tiling"/lib/linux/*/libcust_opmaster_rt2.0.so; do
    ln -sf "${library#"$tiling/"}" "$tiling/liboptiling.so"
done
echo "custom_opp_compiler_version=$version" >"$stage/packages/vendors/$vendor/version.info"
for script in install.sh uninstall.sh upgrade.sh; do
    sed -e "s/@VENDOR@/$vendor/g" -e "s/@ARCH@/$(uname -m)/g" "$here/$script" >"$stage/$script"
    chmod 755 "$stage/$script"
done

mkdir -p "$(dirname "$file")"
part=$file.part
trap 'rm -f "$part" "$part.tar"' EXIT
tar -C "$stage" --owner=0 --group=0 -czf "$part.tar" .
sed -e "s/@SHA256@/$(sha256sum "$part.tar" | cut -d' ' -f1)/" "$here/header.sh" >"$part"
cat "$part.tar" >>"$part"
chmod 755 "$part"
mv "$part" "$file"
