#!/usr/bin/env bash
# Compiles the kernels for x86-64 and runs those of AVX2 and, whatever the processor has, those of VNNI. Where it lacks them,
# AVX-VNNI's run with a handler that does what it cannot (`emulate_vnni.c`), AVX512_VNNI's on a whole emulated machine, on which
# Linux starts nothing but the checks. Ends with 'N passed, N failed'.
set -euo pipefail
program=x86_64
# shellcheck source=Tests/Kernels/shared.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/shared.sh"
if [ "$(uname -m)" != x86_64 ]; then
    say "the kernels for x86-64 are tested on x86-64 alone"
    echo "0 passed, 0 failed"
    exit
fi
has_avx512vnni() { grep -qw avx512_vnni /proc/cpuinfo && grep -qw avx512vl /proc/cpuinfo; }
has_avx512vnni || need bochs bochs /usr/lib/x86_64-linux-gnu/bochs/plugins/libbx_term_gui.so bochs-term \
    /usr/lib/ISOLINUX/isolinux.bin isolinux xorriso xorriso cpio cpio

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

# machine: starts the checks on a machine of its own, and prints what they print on its serial port.
machine() {
    local folder=$out/machine kernel
    mkdir -p "$folder/disc" "$folder/root"
    cd "$folder"
    # Debian's kernel for virtual machines, which is the smallest.
    kernel=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ { print $2; exit }')
    apt-get download -q "$kernel" >&2
    dpkg-deb --fsys-tarfile "$kernel"_*.deb | tar -x --wildcards './boot/vmlinuz-*'
    mv boot/vmlinuz-* disc/linux
    cp "$out/real/kernels" root/init
    (cd root && echo init | cpio --quiet -o -H newc) >disc/initrd
    cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 disc
    cat >disc/isolinux.cfg <<-END
	DEFAULT checks
	LABEL checks
	LINUX linux
	INITRD initrd
	APPEND console=ttyS0 quiet -- avx512vnni
	END
    xorriso -as mkisofs -quiet -o disc.iso -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table disc >&2
    cat >bochsrc <<-END
	config_interface: textconfig
	display_library: term
	cpu: model=corei7_icelake_u, ips=50000000
	memory: guest=256, host=256
	romimage: file=/usr/share/bochs/BIOS-bochs-latest
	vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
	ata0-master: type=cdrom, path=disc.iso, status=inserted
	boot: cdrom
	com1: enabled=1, mode=file, dev=serial
	panic: action=fatal
	log: log
	END
    echo continue >commands    # Debian's Bochs has a debugger, which waits for one
    # It wants a terminal to draw on, and leaves with an error when the machine is turned off. The time limit stays in the group of
    # processes that is stopped when the script ends; `script` passes the signal on.
    timeout --foreground -k 5 600 script -qec "bochs -f bochsrc -rc commands" /dev/null </dev/null >/dev/null 2>&1 || true
    tr -d '\r' <serial >&2
    tr -d '\r' <serial | grep ' checks, '    # the kernel has the last word
}

if has_avx512vnni; then
    start avx512vnni "$out/real/kernels" avx512vnni
else
    start avx512vnni machine
fi
start avx2 "$out/real/kernels" avx2
start avxvnni "$out/emulated/kernels" avxvnni
finish
