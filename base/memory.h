/* base/memory.h -- how much memory this process may have: the smallest of all limits.
 *
 * The limits are the machine's memory, what of it is free, the memory cgroup and all cgroups
 * above it (v1 and v2, as far as they are visible from here), and RLIMIT_AS. A container's limit
 * is a cgroup's: a process that uses the machine's size instead is killed there.
 */
#ifndef HN_BASE_MEMORY_H
#define HN_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct hn_memory {
	int64_t limit;	   /* bytes in all, whoever has them */
	int64_t available; /* bytes more, now; what is cached of files counts as free */
	const char *limit_by, *available_by; /* who says so, for people: "of its cgroup" */
	int64_t n_killed; /* grows when the machine, or this cgroup, kills for want of memory */
};

/* root: "", or for tests a folder with the files of /proc and /sys/fs/cgroup.  What cannot be
 * read is no limit. */
void hn_memory_read(const char *root, struct hn_memory *ret);

/* Bytes of address space this process has. */
int64_t hn_memory_mapped(void);

/* "1.5 GB", "320 MB" into text; returns text. */
const char *hn_memory_print(int64_t bytes, char *text, size_t text_bytes);

#endif
