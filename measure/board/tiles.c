/* measure/board/tiles.c -- see tiles.h. */
#include "measure/board/tiles.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define REQUEST_PERMISSION 0x1023 /* of arch_prctl */
#define TILE_DATA 18		  /* the state that holds the tiles */
#define AMX_TILE 24		  /* bit of edx, leaf 7 of cpuid */

static enum hn_tiles answer;
static int refused_by;

#if defined(__x86_64__)
static bool has_tiles(void)
{
	unsigned a, b, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> AMX_TILE & 1) != 0;
}

static int request_tiles(void)
{
	return syscall(SYS_arch_prctl, REQUEST_PERMISSION, (long)TILE_DATA) == 0 ? 0
										 : errno;
}
#else
static bool has_tiles(void)
{
	return false;
}

static int request_tiles(void)
{
	return ENOSYS;
}
#endif

enum hn_tiles hn_tiles_ask(const struct hn_tiles_system *system, char *why,
			   size_t why_bytes)
{
	static const struct hn_tiles_system own = { has_tiles, request_tiles };

	system = system != NULL ? system : &own;
	refused_by = 0;
	answer = HN_TILES_NONE;
	if (system->has()) {
		refused_by = system->request();
		answer = refused_by == 0 ? HN_TILES_GRANTED : HN_TILES_REFUSED;
	}
	if (answer == HN_TILES_REFUSED) {
		snprintf(why, why_bytes,
			 "the system refuses this process the tile registers (AMX): %s",
			 strerror(refused_by));
	}
	return answer;
}

enum hn_tiles hn_tiles_answer(int *ret_error)
{
	*ret_error = refused_by;
	return answer;
}
