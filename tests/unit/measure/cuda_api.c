/* What hone declares of CUDA's driver interface is what cuda.h declares: numbers, symbols, and calls
 * with hone's types compile, conversions looked at.  Skipped where there is no cuda.h. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cdefs.h"

/* The header's opaque types become one, as hone has one. */
#define CUctx_st cuda_object
#define CUmod_st cuda_object
#define CUfunc_st cuda_object
#define CUstream_st cuda_object
#define CUevent_st cuda_object
#define CUgraph_st cuda_object
#define CUgraphExec_st cuda_object

#if __has_include(<cuda.h>)
#include <cuda.h>
#elif __has_include("/usr/local/cuda/include/cuda.h")
#include "/usr/local/cuda/include/cuda.h"
#endif

#include "measure/drv/cuda_api.h"
#include "tests/lib/each.h"

#if defined(CUDA_VERSION)

#define X(name, theirs, number) _Static_assert((number) == (int)theirs, #theirs);
CUDA_NUMBERS(X)
#if CUDA_VERSION >= 12000
CUDA_LATER_NUMBERS(X)
_Static_assert(sizeof(struct cuda_map) == sizeof(CUtensorMap), "CUtensorMap");
_Static_assert(_Alignof(struct cuda_map) >= _Alignof(CUtensorMap), "CUtensorMap");
#endif
#undef X

_Static_assert(sizeof(cuda_address) == sizeof(CUdeviceptr), "CUdeviceptr");
_Static_assert(sizeof(cuda_result) == sizeof(CUresult), "CUresult");

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wconversion"
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
/* Never called: they need no driver to be linked. */
#define X(name, symbol, parameters)                                                      \
	__attribute__((unused)) static cuda_result call_##name(void)                     \
	{                                                                                \
		return (cuda_result)symbol(EACH_ZERO parameters);                        \
	}
CUDA_FUNCTIONS(X)
#undef X
#pragma GCC diagnostic pop

#define TEXT(x) #x
#define EXPANDED(x) TEXT(x)

/* The symbol of each function is the one that the header means by its name. */
static int check_symbols(void)
{
	static const struct {
		const char *ours, *theirs;
	} rows[] = {
#define X(name, symbol, parameters) {#symbol, EXPANDED(cu##name)},
		CUDA_FUNCTIONS(X)
#undef X
	};
	int bad = 0;

	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		/* with the same meaning and more drivers that have it */
		bool older = strcmp(rows[i].ours, "cuEventElapsedTime") == 0;

		if (!older && strcmp(rows[i].ours, rows[i].theirs) != 0) {
			printf("%s is %s in cuda.h\n", rows[i].ours, rows[i].theirs);
			bad++;
		}
	}
	printf("%zu functions of CUDA %d\n", HN_COUNT_OF(rows), CUDA_VERSION);
	return bad > 0;
}

int main(void)
{
	return check_symbols();
}

#else

int main(void)
{
	printf("no cuda.h: skipped\n");
	return 77;
}

#endif
