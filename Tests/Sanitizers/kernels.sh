#!/bin/sh
# Builds the kernels with AddressSanitizer and UndefinedBehaviorSanitizer, then with ThreadSanitizer, and runs them all.
# Not optimised: instrumenting what the optimiser has unrolled takes many minutes. On x86-64 the kernels of AVX-VNNI are among
# them, whatever the processor has.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sources="$here/../../Sources/CKernels"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# The thread sanitizer of a Swift toolchain's clang wants its libdispatch.
libraries=$(dirname "$(readlink -f "$(command -v swiftc)")")/../lib/swift/linux
dispatch=$sources/dispatch.c
[ "$(uname -m)" != x86_64 ] || dispatch=$here/../Kernels/emulate_vnni.c
for sanitizers in address,undefined thread; do
    rm -f "$out"/*.o
    { find "$sources" -name "*.c" ! -name dispatch.c; printf '%s\n' "$dispatch" "$here/kernels.c"; } |
        xargs -P "$(nproc)" -I FILE sh -c '
        clang -std=gnu11 -O0 -g -Wall -Wextra -Werror "$1" -fno-sanitize-recover=all -I "$2" -I "$2/include" -c "$3" \
            -o "$4/$(basename "$3" .c).o"' sh "-fsanitize=$sanitizers" "$sources" FILE "$out"
    clang "-fsanitize=$sanitizers" -fuse-ld=lld "$out"/*.o -o "$out/kernels" \
        -L "$libraries" -Wl,-rpath,"$libraries" -ldispatch -lBlocksRuntime -lm -lpthread
    "$out/kernels"
done
