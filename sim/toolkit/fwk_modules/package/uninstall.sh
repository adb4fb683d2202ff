#!/bin/sh
# Removes the package that it is installed with, and its entry in vendors/config.ini.
set -eu
vendor=@VENDOR@
vendors=$(cd "$(dirname "$0")/../.." && pwd)
config=$vendors/config.ini
if [ -f "$config" ]; then
    others=$(sed -n 's/^load_priority=//p' "$config" | tr ',' '\n' | grep -vx "$vendor" | paste -sd, -) || true
    if [ -n "$others" ]; then
        echo "load_priority=$others" >"$config"
    else
        rm -f "$config"
    fi
fi
rm -rf "${vendors:?}/$vendor"
