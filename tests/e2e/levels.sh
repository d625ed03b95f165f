# levels.sh -- kernels for lesser processors of this family: right where this machine, or QEMU as a
# processor that has no more, runs them.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_cross.sh"

if [ "$(uname -m)" != x86_64 ]; then
	echo "skip: the levels are those of x86-64"
	exit 77
fi
emulator=$(command -v qemu-x86_64-static || command -v qemu-x86_64)
if [ -n "$emulator" ]; then
	answers "cpu -isa=x86-64-baseline" cc "" "$emulator" -cpu qemu64
else
	echo "no qemu-x86_64: the baseline runs on this processor, which has more"
	answers "cpu -isa=x86-64-baseline" cc ""
fi
for level in avx2:avx2 avx512:avx512vl; do
	if grep -qw "${level#*:}" /proc/cpuinfo; then
		answers "cpu -isa=x86-64-${level%:*} -mattr=" cc ""
	else
		echo "this processor has no ${level#*:}"
	fi
done
echo ok
