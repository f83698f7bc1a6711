#!/usr/bin/env bash
# Compiles the kernels for arm64 and runs them in an emulator, once on a processor with the instruction for dot products and
# once on one without; then with what the undefined behaviour sanitizer sees as traps. Ends with 'N passed, N failed'.
set -euo pipefail
program=arm64
# shellcheck source=Tests/Kernels/shared.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/shared.sh"
need qemu-aarch64 qemu-user aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu \
    /usr/aarch64-linux-gnu/include/stdio.h libc6-dev-arm64-cross

target=(--target=aarch64-linux-gnu -isystem /usr/aarch64-linux-gnu/include)
link() { aarch64-linux-gnu-gcc -static "$out/$1"/*.o -o "$out/$1/kernels" -lm -lpthread; }

# What takes longest first, so that all cores end together.
all=("$sources"/neon_fine*.c "$sources"/neon_coarse*.c "${checks[@]}")
for file in "$sources"/*.c; do
    case $(basename "$file") in neon_fine* | neon_coarse*) ;; *) all+=("$file") ;; esac
done
compile fast "${target[@]}" -O2 -- "${all[@]}"
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
compile checked "${target[@]}" -O1 -DUNROLL= -fsanitize=undefined -fsanitize-trap=undefined -- "${checked[@]}"
link checked

start dotprod qemu-aarch64 -cpu max "$out/fast/kernels" dotprod
start plain qemu-aarch64 -cpu cortex-a72 "$out/fast/kernels" plain
start undefined qemu-aarch64 -cpu max "$out/checked/kernels" dotprod
finish
