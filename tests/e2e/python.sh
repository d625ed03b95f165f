#!/bin/sh
# The wheel is built without a network, installs into an empty environment, and there its examples
# run and what is wrong is refused (tests/python/check.py, adapters_check.py).
#
#     python.sh        the package and libhone; programs are those of the build
#     python.sh torch  its backend of torch.compile (tests/python/torch_check.py)
#     python.sh bare   all of it, in a root that has nothing but Python and the C library
. "$(dirname "$0")/lib.sh"

python=${HONE_PYTHON:-python3}
command -v "$python" >/dev/null && command -v cmake >/dev/null || {
	echo "skip: no Python or no cmake"
	exit 77
}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
	echo "skip: Python before 3.10"
	exit 77
}
export PYTHONDONTWRITEBYTECODE=1

build_wheel()
{
	"$python" "$HONE_SOURCE/python/build_wheel.py" "$HONE_BIN/.." "$work/wheel" "$@" >"$work/out" 2>&1 ||
		die "wheel: $(cat "$work/out")"
}

# into a folder of its own, by pip where there is one
install_to()
{
	"$python" -m pip install --quiet --no-index --no-deps --target "$1" "$work"/wheel/*.whl \
		>"$work/out" 2>&1 || "$python" -m zipfile -e "$work"/wheel/*.whl "$1" || die "install: $(cat "$work/out")"
}

check()
{
	build_wheel --without-programs
	install_to "$work/site"
	export PYTHONPATH="$work/site" HONE_BIN
	cd "$work" || exit 1
	"$python" "$HONE_SOURCE/tests/python/check.py" >"$work/out" 2>&1 || die "$(cat "$work/out")"
	cat "$work/out"
	"$python" "$HONE_SOURCE/tests/python/adapters_check.py" >"$work/out" 2>&1 || die "$(cat "$work/out")"
	cat "$work/out"
	mkdir "$work/page" && cd "$work/page" || exit 1
	"$python" "$HONE_SOURCE/tests/python/page.py" "$HONE_SOURCE/docs/python.md" >"$work/out" 2>&1
	status=$?
	cat "$work/out"
	[ "$status" = 0 ] || [ "$status" = 77 ] || die "docs/python.md: $(cat "$work/out")"
	cd "$work" || exit 1
	"$python" -m hone demo --trials 8 --picture "$work/curve.svg" >"$work/out" 2>&1 ||
		die "demo: $(cat "$work/out")"
	grep -q 'its answers are right' "$work/out" || die "demo: $(cat "$work/out")"
	grep -q '<polyline' "$work/curve.svg" || die "no curve"
}

torch()
{
	"$python" -c 'import torch' 2>/dev/null || {
		echo "skip: $python has no torch"
		exit 77
	}
	build_wheel --without-programs
	install_to "$work/site"
	export PYTHONPATH="$work/site" HONE_BIN
	cd "$work" || exit 1
	"$python" "$HONE_SOURCE/tests/python/torch_check.py" >"$work/out" 2>&1 || die "$(cat "$work/out")"
	cat "$work/out"
}

# copy_with FILE: it, and the libraries that it is linked with
copy_with()
{
	for file in "$1" $(ldd "$1" | grep -o '/[^ ]*'); do
		mkdir -p "$root$(dirname "$file")"
		[ -e "$root$file" ] || cp -L "$file" "$root$file"
	done
}

bare()
{
	[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || {
		echo "skip: not root, or no mounts of its own"
		exit 77
	}
	build_wheel
	root=$work/root
	mkdir -p "$root/tmp" "$root/dev" "$root/proc" "$root/opt"
	real=$("$python" -c 'import sys, os; print(os.path.realpath(sys.executable))')
	library=$("$python" -c 'import os; print(os.path.dirname(os.__file__))')
	copy_with "$real"
	mkdir -p "$root$library"
	(cd "$library" && tar cf - --exclude site-packages --exclude dist-packages --exclude test .) |
		tar xf - -C "$root$library"
	for file in "$library"/lib-dynload/*.so; do
		copy_with "$file"
	done
	libc=$(ldd "$real" | sed -n 's/.*libc\.so\.6 => \(\/[^ ]*\).*/\1/p')
	for name in libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1; do # the C library's others
		cp -L "$(dirname "$libc")/$name" "$root$(dirname "$libc")/"
	done
	cp -a /dev/null /dev/zero /dev/urandom "$root/dev/"
	install_to "$root/opt"
	unshare -m sh -c "mount -t proc proc '$root/proc' || mount --bind /proc '$root/proc' || exit 77
		exec env -i PYTHONPATH=/opt PYTHONHOME='$(dirname "$(dirname "$library")")' HONE_HOME=/tmp/home \
			HONE_SOCKET=/tmp/run/s \"\$(command -v chroot || echo /usr/sbin/chroot)\" '$root' \
			'$real' -m hone demo --trials 16 --picture /tmp/curve.svg" >"$work/out" 2>&1
	status=$?
	[ "$status" = 77 ] && exit 77
	grep -q 'its answers are right' "$work/out" || die "demo in a bare root: $(cat "$work/out")"
	[ -s "$root/tmp/curve.svg" ] || die "no curve"
	tail -3 "$work/out"
}

case ${1:-} in
bare) bare ;;
torch) torch ;;
*) check ;;
esac
