#!/usr/bin/env bash
# Builds the programs of Examples/ as a user's package that depends on this one by a URL and a version, which is the way with the
# most conditions (SwiftPM refuses unsafe build flags there, and reads the manifest out of the repository), and runs each on
# the smallest model. Ends with 'N passed, N failed'.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
work=$root/.build/examples
export FM_MODEL=${FM_MODEL:-smollm2-135m}
passed=0
failed=0

result() { # result NAME STATUS
    if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "failed: $1"
    fi
}

# The package as a repository with a version. Versions never mean two states of the sources, so each run makes a later one.
mkdir -p "$work/repository" "$work/package"
cd "$work/repository"
[ -d .git ] || git init --quiet
git ls-files -z | xargs -0 rm -f
# The sources as they lie there, committed or not.
(cd "$root" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ ! -f "$file" ] || printf '%s\0' "$file"
done | tar --create --null --files-from=-) | tar --extract
git add --all
git -c user.name=test -c user.email=test@localhost commit --quiet --allow-empty --message "Sources"
version=1.0.$(date +%s)
git tag "$version"

# The examples, with the dependency by its version.
cd "$work/package"
rm -rf Sources Package.swift Package.resolved
cp -R "$root/Examples/Sources" .
sed "s|\.package(name: \"FoundationModels\", path: \"\.\.\")|.package(url: \"file://$work/repository\", exact: \"$version\")|; \
    s|package: \"FoundationModels\"|package: \"repository\"|" "$root/Examples/Package.swift" >Package.swift
grep -q "exact: \"$version\"" Package.swift

status=0
swift build --scratch-path "$work/build" >"$work/build.log" 2>&1 || status=$?
result "build by URL and version" $status
[ "$status" -eq 0 ] || tail -n 30 "$work/build.log"
status=0
! grep -E 'warning: .*(unsafe|unhandled)|/Examples/.*warning:' "$work/build.log" || status=1
result "build without warnings" $status
# By its path the package can be had too; that it resolves is enough, what is built is the same.
status=0
swift package --package-path "$root/Examples" --scratch-path "$work/path" describe >"$work/path.log" 2>&1 || status=$?
result "dependency by path" $status
[ "$status" -eq 0 ] || tail -n 5 "$work/path.log"

# run NAME PATTERN ARGUMENT ...: the program ends well and its output has the pattern.
run() {
    local name=$1 pattern=$2 status=0
    shift 2
    timeout 600 "$work/build/debug/$name" "$@" </dev/null >"$work/$name.log" 2>&1 || status=$?
    grep -qE "$pattern" "$work/$name.log" || status=1
    result "$name" $status
    [ "$status" -eq 0 ] || tail -n 5 "$work/$name.log"
}
if [ -x "$work/build/debug/Hello" ]; then
    run Hello '[[:alpha:]]'
    run TripSummary '^For about [0-9]+ euros a person\.$' Rome
    run RestaurantSearch '[[:alpha:]]' "Hello!"
    run LongChat '^\[[0-9]+ tokens so far: summing up\]$'
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -eq 7 ]
