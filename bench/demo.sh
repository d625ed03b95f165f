#!/bin/sh
# demo.sh -- the main job, start to end, in about two minutes: a daemon of its own, a ResNet-50
# convolution and a 512 cubed matmul tuned, the answers asked for again from disk, the matmul
# as an object file, linked into a small C program that checks its numbers.
#
# Run by `./bootstrap demo`.  HONE_DEMO_SECONDS: budget of each tune (55).  HONE_BIN: where the
# programs are (build/bin).  Nothing of it stays behind, however it ends.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
bin=${HONE_BIN:-$root/build/bin}
seconds=${HONE_DEMO_SECONDS:-55}
work=$(mktemp -d "${TMPDIR:-/tmp}/hone-demo-XXXXXX")
export HONE_HOME="$work/store" HONE_SOCKET="$work/run/sock"
unset HONE_TEST_HOOKS HONE_TEST_PLANT
honed=

clean()
{
	status=$?
	trap - EXIT INT TERM HUP
	if [ -n "$honed" ] && kill -TERM "$honed" 2>/dev/null; then
		tries=0
		while kill -0 "$honed" 2>/dev/null && [ "$tries" -lt 100 ]; do
			sleep 0.1
			tries=$((tries + 1))
		done
		kill -KILL "$honed" 2>/dev/null || :
	fi
	rm -rf "$work"
	exit "$status"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

fail()
{
	printf 'demo: %s\n' "$*" >&2
	if [ -s "$work/honed.log" ]; then
		printf 'demo: last lines of the log of honed:\n' >&2
		tail -5 "$work/honed.log" >&2
	fi
	exit 1
}

step()
{
	printf '\n== %s\n' "$*"
}

for program in hone honed hone-build hone-board; do
	[ -x "$bin/$program" ] || fail "$bin/$program is missing: run ./bootstrap build"
done

step "start honed"
"$bin/honed" --log "$work/honed.log" &
honed=$!
tries=0
until "$bin/hone" ping 2>/dev/null; do
	tries=$((tries + 1))
	[ "$tries" -lt 100 ] && kill -0 "$honed" 2>/dev/null || fail "honed does not start"
	sleep 0.1
done

conv="$root/examples/resnet50-conv.json"
matmul='matmul(float32 A[512,512], float32 B[512,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'

step "hone tune examples/resnet50-conv.json --seconds $seconds"
"$bin/hone" tune "$conv" --seconds "$seconds" || fail "tuning the convolution failed"

step "hone tune --text '$matmul' --seconds $seconds"
"$bin/hone" tune --text "$matmul" --seconds "$seconds" || fail "tuning the matmul failed"

step "hone stop"
"$bin/hone" stop || fail "the daemon did not stop"
wait "$honed" || fail "honed ended with status $?"
honed=
if "$bin/hone" ping 2>/dev/null; then
	fail "the daemon still answers"
fi
echo "no daemon runs any more"

step "hone query: the bests, from disk"
"$bin/hone" query "$conv" | cut -c 1-100 || fail "query of the convolution"
"$bin/hone" query --text "$matmul" >"$work/query" || fail "query of the matmul"
cut -c 1-100 "$work/query"
"$bin/hone" query "$conv" >/dev/null || fail "query of the convolution"

step "hone replay: object file and header"
"$bin/hone" replay --text "$matmul" --symbol matmul512 -o "$work/kernel" >"$work/files" ||
	fail "replay of the matmul"
"$bin/hone" replay "$conv" --symbol conv -o "$work/kernel" >>"$work/files" ||
	fail "replay of the convolution"
sed "s|^$work/||" "$work/files"

step "a C program calls the kernel"
cat >"$work/use.c" <<'END'
#include <math.h>
#include <stdio.h>
#include "hone/pool.h"
#include "matmul512.h"
enum { N = 512 };
static _Alignas(64) float a[N][N], b[N][N], c[N][N];
int main(void)
{
	double worst = 0;
	for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {
		a[i][j] = (float)((i * 7 + j * 3) % 17 - 8), b[i][j] = (float)((i + j * 5) % 13 - 6);
	}
	struct hone_pool *pool = hone_pool_create(0);
	int32_t threads = hone_pool_threads(pool);
	int rc = matmul512(&a[0][0], &b[0][0], &c[0][0],
		hone_pool_env(pool, matmul512_WORKSPACE_BYTES(threads)));
	hone_pool_destroy(pool);
	for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {
		double want = 0;
		for (int k = 0; k < N; k++) want += (double)a[i][k] * b[k][j];
		worst = fmax(worst, fabs(want - c[i][j]));
	}
	printf("matmul512 on %d threads returned %d, largest error against the naive loop: %g\n",
		(int)threads, rc, worst);
	return rc != 0 || !(worst < 1e-2);
}
END
"${CC:-cc}" -std=c11 -O2 -I"$work/kernel" "$work/use.c" \
	"$work"/kernel/*.o -lm -lpthread -o "$work/use" || fail "the program does not compile"
"$work/use" || fail "the kernel's numbers are wrong"

step "done: everything worked"
