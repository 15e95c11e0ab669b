#!/usr/bin/env bash
# setup.sh GROUP...: installs the packages of these groups of packages.txt that are missing.
# Needs neither root nor network if none is missing.
set -euo pipefail
list="$(dirname "$0")/packages.txt"

wanted=$(awk -v groups=" $* " '
  { sub(/#.*/, "") }
  /^\[/ { gsub(/[][ \t]/, ""); on = index(groups, " " $0 " ") > 0; next }
  on && NF { print $1 }' "$list")
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null |
  awk '$1 == "installed" { print $2 }')
missing=$(grep -vxF -f <(printf '%s\n' "$installed") <<<"$wanted" || true)
[ -n "$missing" ] || exit 0

# shellcheck disable=SC2086  # the list is words
set -- $missing
if [ "$(id -u)" != 0 ]; then
  echo "setup: missing packages; as root: apt-get install --no-install-recommends $*" >&2
  exit 1
fi
echo "setup: installing $*"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$@" >/dev/null
