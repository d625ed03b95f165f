/* loopstate/nest/memory.c -- see memory.h. */
#include "loopstate/nest/memory.h"

#include <string.h>

const struct hn_memory_row hn_memory_rows[HN_N_MEMORY] = {
#define MEMORY(name, keyword, copies, in_device, param) {keyword, HN_COPIES_##copies, in_device},
#include "loopstate/nest/memories.def"
#undef MEMORY
};

enum hn_memory hn_memory_of_scope(const char *scope)
{
	int m = 0;

	while (scope != NULL && m < HN_N_MEMORY &&
	       strncmp(scope, hn_memory_rows[m].keyword, strlen(hn_memory_rows[m].keyword)) != 0) {
		m++;
	}
	return scope != NULL ? (enum hn_memory)m : HN_N_MEMORY;
}

enum hn_memory hn_memory_of_device(const char *keyword)
{
	int m = 0;

	while (m < HN_N_MEMORY && !(hn_memory_rows[m].in_device &&
				    strcmp(keyword, hn_memory_rows[m].keyword) == 0)) {
		m++;
	}
	return (enum hn_memory)m;
}
