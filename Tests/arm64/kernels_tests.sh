#!/usr/bin/env bash
# Compiles the kernels for arm64 and runs them in an emulator, once on a processor with the instruction for dot products and
# once on one without; then with what the undefined behaviour sanitizer sees as traps. Ends with 'N passed, N failed'.
set -euo pipefail
program=arm64
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(dirname "$(dirname "$here")")
sources=$root/Sources/CKernels
# shellcheck source=Scripts/prepare.sh
. "$root/Scripts/prepare.sh"

missing=()
command -v qemu-aarch64 >/dev/null || missing+=(qemu-user)
command -v aarch64-linux-gnu-gcc >/dev/null || missing+=(gcc-aarch64-linux-gnu)
[ -e /usr/aarch64-linux-gnu/include/stdio.h ] || missing+=(libc6-dev-arm64-cross)
[ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}" || {
    say "the kernels for arm64 cannot be tested without ${missing[*]}"
    exit 1
}
# The compiler that builds the package: clang of the Swift toolchain.
require_toolchain
clang=$(dirname "$(readlink -f "$(command -v swiftc)")")/clang
[ -x "$clang" ] || clang=clang

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
compile() { # compile FOLDER FLAG... -- FILE...
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
        "$clang" --target=aarch64-linux-gnu -isystem /usr/aarch64-linux-gnu/include -std=gnu11 \
        -Wall -Wextra -Werror -I "$sources" -I "$sources/include" "${flags[@]}"
}
link() { aarch64-linux-gnu-gcc -static "$out/$1"/*.o -o "$out/$1/kernels" -lm -lpthread; }

# What takes longest first, so that all cores end together.
all=("$sources"/neon_fine*.c "$sources"/neon_coarse*.c "$here"/*.c)
for file in "$sources"/*.c; do
    case $(basename "$file") in neon_fine* | neon_coarse*) ;; *) all+=("$file") ;; esac
done
compile fast -O2 -- "${all[@]}"
link fast
# Loops stay loops: instrumenting what was unrolled takes minutes. The two largest files differ from their neighbours in one
# function without an operator, and come from the first build.
checked=()
mkdir -p "$out/checked"
for file in "${all[@]}"; do
    case $(basename "$file") in
    neon_coarse.c | neon_fine.c) cp "$out/fast/$(basename "$file" .c).o" "$out/checked" ;;
    *) checked+=("$file") ;;
    esac
done
compile checked -O1 -DUNROLL= -fsanitize=undefined -fsanitize-trap=undefined -- "${checked[@]}"
link checked

passed=0
failed=0
pids=()
run() { # run NAME PROGRAM PROCESSOR ARGUMENT
    qemu-aarch64 -cpu "$3" "$out/$2/kernels" "$4" >"$out/$1.log" 2>"$out/$1.errors" &
    pids+=("$1:$!")
}
run dotprod fast max dotprod
run plain fast cortex-a72 plain
run undefined checked max dotprod
for entry in "${pids[@]}"; do
    name=${entry%%:*} status=0
    wait "${entry#*:}" || status=$?
    line=$(cat "$out/$name.log")
    if [ "$status" -eq 0 ] && [[ $line =~ ^[1-9][0-9]*\ checks,\ 0\ failed ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        cat "$out/$name.errors"
        echo "failed: $name (status $status)"
    fi
    echo "$name: $line"
done
# The same numbers with and without the instruction.
hash=$(sed 's/.*hash //' "$out/dotprod.log")
if [ -n "$hash" ] && [ "$hash" = "$(sed 's/.*hash //' "$out/plain.log")" ]; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "failed: numbers depend on the instruction for dot products"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
