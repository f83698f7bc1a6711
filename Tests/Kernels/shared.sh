# Shared by `arm64_tests.sh` and `x86_64_tests.sh`: compiles the kernels with the checks of this folder, runs them, counts. Sourced,
# never run.
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(dirname "$(dirname "$here")")
sources=$root/Sources/CKernels
checks=("$here"/main.c "$here"/check_*.c)
# shellcheck source=Scripts/prepare.sh
. "$root/Scripts/prepare.sh"

# The compiler that builds the package: clang of the Swift toolchain.
require_toolchain
clang=$(dirname "$(readlink -f "$(command -v swiftc)")")/clang
[ -x "$clang" ] || clang=clang

out=$(mktemp -d)
running=()

# Nothing outlives the script, however it ends: what it started are groups of processes, named by their first.
stop() {
    local entry
    for entry in "${running[@]}"; do
        kill -- "-${entry#*:}" 2>/dev/null || true
    done
    rm -rf "$out"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# need COMMAND PACKAGE ...: installs the packages whose commands are missing.
need() {
    local missing=()
    while [ $# -gt 0 ]; do
        command -v "$1" >/dev/null || [ -e "$1" ] || missing+=("$2")
        shift 2
    done
    [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}" || {
        say "the kernels cannot be tested without ${missing[*]}"
        exit 1
    }
}

# compile FOLDER FLAG... -- FILE...
compile() {
    local folder=$1 flags=()
    shift
    while [ "$1" != -- ]; do
        flags+=("$1")
        shift
    done
    shift
    mkdir -p "$out/$folder"
    # shellcheck disable=SC2016
    printf '%s\n' "$@" | xargs -P "$(nproc)" -I FILE sh -c '
        file=$1 folder=$2
        shift 2
        exec "$@" -c "$file" -o "$folder/$(basename "$file" .c).o"' sh FILE "$out/$folder" \
        "$clang" -std=gnu11 -Wall -Wextra -Werror -I "$sources" -I "$sources/include" "${flags[@]}"
}

passed=0
failed=0

# start NAME COMMAND...: in the background, in a group of its own; what it prints last is what the program of the checks prints.
start() {
    local name=$1
    shift
    set -m
    "$@" </dev/null >"$out/$name.log" 2>"$out/$name.errors" &
    set +m
    running+=("$name:$!")
}

# finish: waits for all that were started, counts, says so and ends. That all got the same numbers is one more test.
finish() {
    local entry name status line hashes=()
    while [ ${#running[@]} -gt 0 ]; do
        entry=${running[0]}
        name=${entry%%:*} status=0
        wait "${entry#*:}" || status=$?
        running=("${running[@]:1}")
        line=$(tail -n 1 "$out/$name.log")
        if [ "$status" -eq 0 ] && [[ $line =~ ^[1-9][0-9]*\ checks,\ 0\ failed,\ hash\ (.+)$ ]]; then
            passed=$((passed + 1))
            hashes+=("${BASH_REMATCH[1]}")
        else
            failed=$((failed + 1))
            cat "$out/$name.errors"
            echo "failed: $name (status $status)"
        fi
        echo "$name: $line"
    done
    if [ "$(printf '%s\n' "${hashes[@]}" | sort -u | wc -l)" -eq 1 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: not all got the same numbers"
    fi
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
