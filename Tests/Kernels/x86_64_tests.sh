#!/usr/bin/env bash
# Compiles the kernels for x86-64 and runs those of AVX2 and those of VNNI: AVX-VNNI's, where the processor lacks them, with a handler
# that does what it cannot (`emulate_vnni.c`), AVX512_VNNI's only where it has them, since it then takes more than those to
# emulate. Their source is the same. Ends with 'N passed, N failed'.
set -euo pipefail
program=x86_64
# shellcheck source=Tests/Kernels/shared.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/shared.sh"
if [ "$(uname -m)" != x86_64 ]; then
    say "the kernels for x86-64 are tested on x86-64 alone"
    echo "0 passed, 0 failed"
    exit
fi
# What takes longest first, so that all cores end together.
all=("$sources"/avx*_fine.c "$sources"/avx*_coarse.c "$sources"/avx2_matmul.c "${checks[@]}")
for file in "$sources"/*.c; do
    case $(basename "$file") in avx*_fine.c | avx*_coarse.c | avx2_matmul.c | neon* | dispatch.c) ;; *) all+=("$file") ;; esac
done
compile most -O2 -- "${all[@]}"
compile real -O2 -- "$sources/dispatch.c"
compile emulated -O2 -- "$here/emulate_vnni.c"
for kind in real emulated; do
    "$clang" -fuse-ld=lld -static "$out/most"/*.o "$out/$kind"/*.o -o "$out/$kind/kernels" -lm -lpthread
done

if grep -qw avx512_vnni /proc/cpuinfo && grep -qw avx512vl /proc/cpuinfo; then
    start avx512vnni "$out/real/kernels" avx512vnni
fi
start avx2 "$out/real/kernels" avx2
start avxvnni "$out/emulated/kernels" avxvnni
finish
