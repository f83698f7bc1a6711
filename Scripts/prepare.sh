# Shared by ./fm, ./test and ./figures: sees to it that the machine has what a build needs. Sourced, never run.

say() { printf '%s: %s\n' "${program:-prepare}" "$*" >&2; }

# What the build needs beside the toolchain: the name that pkg-config knows, and the Debian package that brings it.
system_libraries=(libcurl:libcurl4-openssl-dev libcrypto:libssl-dev libedit:libedit-dev
    libmicrohttpd:libmicrohttpd-dev)

missing_packages() {
    local entry
    command -v pkg-config >/dev/null || echo pkg-config
    for entry in "${system_libraries[@]}"; do
        pkg-config --exists "${entry%%:*}" 2>/dev/null || echo "${entry#*:}"
    done
}

# install_packages PACKAGE...: by apt-get, as root or through sudo.
install_packages() {
    local elevate=()
    if [ "$(id -u)" -ne 0 ]; then
        elevate=(sudo)
        command -v sudo >/dev/null || elevate=(false)
        [ -t 0 ] || elevate+=(-n)
    fi
    if ! command -v apt-get >/dev/null; then
        say "missing: $*. These are Debian's names; install their equivalents and run this again."
        return 1
    fi
    say "installing $* with apt-get"
    local log
    log=$(mktemp)
    # On a machine that has never looked at its mirrors the lists are empty, so a first failure is followed by an update.
    if ! { DEBIAN_FRONTEND=noninteractive "${elevate[@]}" apt-get install -y --no-install-recommends "$@" ||
        { "${elevate[@]}" apt-get update &&
            DEBIAN_FRONTEND=noninteractive "${elevate[@]}" apt-get install -y --no-install-recommends "$@"; }; } \
        </dev/null >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        rm -f "$log"
        say "could not install them; run this yourself, then try again: sudo apt-get install $*"
        return 1
    fi
    rm -f "$log"
}

require_toolchain() {
    command -v swift >/dev/null && return
    say "no 'swift' on the PATH. Install the Swift 6.2 toolchain or a later one, then run this again."
    return 1
}

# Models of the catalogue come as pip packages.
require_pip() {
    python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
}

# prepare: everything that a build needs. Silent when nothing is missing.
prepare() {
    require_toolchain || return 1
    local missing
    missing=$(missing_packages)
    # One word per package: none of Debian's names has a space.
    # shellcheck disable=SC2086
    [ -z "$missing" ] || install_packages $missing
}

# build_product PRODUCT: builds a program, or the library for C, in release unless no source is newer than the last build, and
# sets `binary`.
# Two runs at once wait for each other here.
build_product() {
    local product=$1 stamp=$root/.build/$1.stamp
    binary=$root/.build/release/$product
    [ "$product" != FoundationModelsC ] || binary=$root/.build/release/lib$product.so
    mkdir -p "$root/.build"
    exec 9>"$root/.build/$product.lock"
    if ! flock -n 9; then
        say "Another run is building $product; waiting for it."
        flock 9
    fi
    if [ -x "$binary" ] && [ -e "$stamp" ] &&
        [ -z "$(find "$root/Sources" "$root/Benchmarks/Measure" "$root/Package.swift" -newer "$stamp" -print -quit)" ]; then
        exec 9>&-
        return
    fi
    # The stamp has the time of the start, so that a change made during the build is built the next time.
    touch "$stamp.new"
    if [ -x "$binary" ]; then say "Building $product (release), since the sources have changed."; else
        say "Building $product (release); this takes several minutes the first time."
    fi
    local log=$root/.build/$product.log
    if [ -t 2 ]; then
        # 9>&-: a build daemon that outlives the build must not keep the lock.
        swift build --package-path "$root" -c release --product "$product" 9>&- >&2 || return 1
    elif ! swift build --package-path "$root" -c release --product "$product" 9>&- >"$log" 2>&1; then
        cat "$log" >&2
        say "The build failed. Its output is kept in $log."
        return 1
    fi
    mv "$stamp.new" "$stamp"
    exec 9>&-
}
