# Shared by the scripts: the project's root, messages, packages, builds. Sourced, not run.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export CCACHE_DIR=${CCACHE_DIR:-$root/.cache/ccache}
export CXX=${CXX:-ccache g++}

say() { printf '\n== %s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Installs the packages of the kinds named (b, t) that are missing; asks nothing.
ensure_packages() {
  local kinds=$1 missing=() as_root=() kind package
  while read -r kind package; do
    [[ $kind == ["$kinds"] ]] || continue
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
  done < <(grep -v '^#' "$root/scripts/packages.txt")
  [[ ${#missing[@]} -eq 0 ]] && return
  command -v apt-get >/dev/null || die "needs Debian's apt-get, or these installed: ${missing[*]}"
  if [[ $EUID -ne 0 ]]; then
    sudo -n true 2>/dev/null || die "packages are missing; run once as root: apt-get install ${missing[*]}"
    as_root=(sudo -n)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# configure_build DIR [MESON OPTION]...: sets the folder up, anew when its options changed.
configure_build() {
  local dir=$root/$1 stamp=$root/$1/.tictac-options log
  shift
  [[ -f $stamp && $(<"$stamp") == "$CXX $*" ]] && return
  rm -rf "$dir"
  log=$(mktemp)
  meson setup "$dir" "$root" "$@" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "meson could not configure $dir"
  }
  rm -f "$log"
  printf '%s' "$CXX $*" >"$stamp"
}

build_release() {
  configure_build build --buildtype=release -Db_ndebug=false
  ninja -C "$root/build" "$@"
}
