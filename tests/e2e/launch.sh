#!/bin/sh
# launch.sh -- the C source that launches a GPU's kernel: a plain compiler takes it, and against a
# driver that writes down what it is asked it loads the code, asks for the workspace, and launches the
# kernels in order with their buffers.
. "$(dirname "$0")/lib.sh"

if ! command -v cc >/dev/null; then
	echo "skip: needs cc"
	exit 77
fi
cat >"$work/driver.c" <<'END'
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int cuInit(unsigned f) { return f != 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = (void *)(intptr_t)(d + 1); return 0; }
int cuCtxSetCurrent(void *c) { return c == NULL; }
int cuModuleLoadData(void **m, const void *code)
{
	*m = (void *)1;
	return strstr(code, ".entry k0") == NULL;
}
int cuModuleUnload(void *m) { puts("unload"); return m == NULL; }
int cuModuleGetFunction(void **f, void *m, const char *name)
{
	*f = (void *)(intptr_t)(name[1] - '0' + 10);
	return m == NULL;
}
int cuFuncSetAttribute(void *f, int a, int v) { return f == NULL || a != 8 || v < 0; }
int cuMemAlloc_v2(uint64_t *p, size_t n) { printf("workspace %zu\n", n); *p = 77; return 0; }
int cuMemFree_v2(uint64_t p) { printf("free %d\n", (int)p); return 0; }
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		   unsigned bz, unsigned shared, void *stream, void **p, void **extra)
{
	printf("k%d grid %u %u %u block %u %u %u shared %u:", (int)(intptr_t)f - 10, gx, gy, gz, bx, by,
	       bz, shared);
	printf(" %d %d%s\n", (int)*(uint64_t *)p[0], (int)*(uint64_t *)p[1],
	       stream || extra ? " ?" : "");
	return 0;
}
int cuCtxSynchronize(void) { return 0; }
/* A map begins with the address, so that a launch shows it. */
int cuTensorMapEncodeTiled(void *map, int type, unsigned n, void *at, const uint64_t *size,
			   const uint64_t *stride, const unsigned *box, const unsigned *each,
			   int interleave, int swizzle, int l2, int fill)
{
	uint64_t address = (uint64_t)(uintptr_t)at;

	printf("map of %d type %d size %d %d stride %d box %u %u swizzle %d%s\n", (int)address, type,
	       (int)size[0], (int)size[1], (int)stride[0], box[0], box[1], swizzle,
	       n != 2 || each[0] != 1 || each[1] != 1 || interleave != 0 || fill != 0 || l2 > 3 ||
			       (uintptr_t)map % 64 != 0
		       ? " ?"
		       : "");
	memset(map, 0x5a, 128);
	memcpy(map, &address, sizeof address);
	return 0;
}
END
cat >"$work/main.c" <<'END'
#include <stdint.h>
#include <stdio.h>

const char *s_load(const char *path);
const char *s_run(const uint64_t *args);
void s_unload(void);

int main(int argc, char **argv)
{
	const uint64_t args[3] = { 5, 6, 7 };
	const char *why = s_load(argv[argc - 1]);

	why = why ? why : s_run(args);
	s_unload();
	puts(why ? why : "done");
	return 0;
}
END
text='s(float32 A[64]) -> S { T(i) = A(i) * 2 S(i) = T(63 - i) + 1 }'
echo '[["AN", 1, 0, 6], ["AN", 2, 0, 6]]' >"$work/threads.json"
hone replay --text "$text" --record "$work/threads.json" --target 'cuda -isa=sm_80' --unchecked \
	--as ptx,launch -o "$work/out" >/dev/null || die "replay failed"
cc -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -o "$work/main" "$work/main.c" "$work/out/s_launch.c" \
	-ldl || die "cc does not take it"
[ "$("$work/main" "$work/nothing" | tail -n 1)" != done ] || die "there is no driver, and it ran"
cc -shared -fPIC -o "$work/libcuda.so.1" "$work/driver.c" || die "no driver"
LD_LIBRARY_PATH=$work "$work/main" "$work/out/s.ptx" >"$work/got"
cat >"$work/want" <<'END'
workspace 256
k0 grid 1 1 1 block 64 1 1 shared 0: 5 77
k1 grid 1 1 1 block 64 1 1 shared 0: 6 77
free 77
unload
done
END
diff "$work/want" "$work/got" || die "other launches"
LD_LIBRARY_PATH=$work "$work/main" "$work/nothing" | grep -q 'cannot be opened' || die "no such file"
# tensor maps are made of the arguments' addresses, and come behind the buffers
text='s(bfloat16 A[128,256], bfloat16 B[128,256]) -> C { C(i,j) +=! float32(A(i,k)) * float32(B(j,k)) }'
hone replay --text "$text" --record "$HONE_SOURCE/tests/data/roles.json" --unchecked --as ptx,launch -o "$work/maps" \
	--target 'cuda -isa=sm_90a -max_shared_memory_per_block=232448' >/dev/null || die "replay of maps"
cc -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -o "$work/main" "$work/main.c" \
	"$work/maps/s_launch.c" -ldl || die "cc does not take it with maps"
LD_LIBRARY_PATH=$work "$work/main" "$work/maps/s.ptx" >"$work/got"
cat >"$work/want" <<'END'
map of 5 type 1 size 256 128 stride 512 box 64 128 swizzle 3
map of 6 type 1 size 256 128 stride 512 box 64 128 swizzle 3
k0 grid 1 1 1 block 128 3 1 shared 98368: 7 5
unload
done
END
diff "$work/want" "$work/got" || die "other maps"
grep -q '"maps":\[{"buffer":0,"elem":2,"size":\[128,256\]' "$work/maps/s.json" || die "no maps in s.json"
echo "replayed kernels are launched"
