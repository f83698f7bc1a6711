#!/bin/sh
# Builds the kernels with AddressSanitizer and UndefinedBehaviorSanitizer, then with ThreadSanitizer, and runs them all.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sources="$here/../../Sources/CKernels"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# The thread sanitizer of a Swift toolchain's clang wants its libdispatch.
libraries=$(dirname "$(readlink -f "$(command -v swiftc)")")/../lib/swift/linux
for sanitizers in address,undefined thread; do
    clang -std=gnu11 -O1 -g -Wall -Wextra -Werror "-fsanitize=$sanitizers" -fno-sanitize-recover=all -fuse-ld=lld \
        -I "$sources/include" "$sources"/*.c "$here/kernels.c" -o "$out/kernels" \
        -L "$libraries" -Wl,-rpath,"$libraries" -ldispatch -lBlocksRuntime -lm -lpthread
    "$out/kernels"
done
