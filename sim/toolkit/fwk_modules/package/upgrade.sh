#!/bin/sh
# Installing replaces what is there: an upgrade is the same.
exec "$(dirname "$0")/install.sh" "$@"
