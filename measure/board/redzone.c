/* measure/board/redzone.c -- buffers between inaccessible pages. */
#include "measure/board/redzone.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

static size_t align_up(size_t v, size_t to)
{
	return (v + to - 1) / to * to;
}

static int fail(struct hn_redzone *g, struct hn_err *err)
{
	int code = errno;

	hn_redzone_unmap(g);
	return hn_fail(err, HONE_E_NOMEM, "buffers: %s", strerror(code));
}

int hn_redzone_map(size_t bytes, enum hn_redzone_place place, struct hn_redzone *ret,
		 struct hn_err *err)
{
	size_t tail = place == HN_REDZONE_ALIGNED ? align_up(bytes, 64) : bytes;
	size_t inner = align_up(tail > 0 ? tail : 1, PAGE);
	struct hn_redzone g = {.bytes = bytes, .region_bytes = inner + 2 * PAGE};
	void *at;

	g.fd = memfd_create("hone-buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	at = mmap(NULL, g.region_bytes, PROT_NONE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	g.region = at == MAP_FAILED ? NULL : at;
	if (g.fd < 0 || g.region == NULL || ftruncate(g.fd, (off_t)inner) != 0) {
		return fail(&g, err);
	}
	/* fallocate: a full memory is an error here, not a SIGBUS later */
	if (fallocate(g.fd, 0, 0, (off_t)inner) != 0) {
		return fail(&g, err);
	}
	at = mmap(g.region + PAGE, inner, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		  g.fd, 0);
	if (at == MAP_FAILED) {
		return fail(&g, err);
	}
	g.data = g.region + PAGE + inner - tail;
	hn_redzone_mend(&g);
	*ret = g;
	return 0;
}

void hn_redzone_unmap(struct hn_redzone *g)
{
	if (g->region != NULL) {
		munmap(g->region, g->region_bytes);
		if (g->fd >= 0) {
			close(g->fd);
		}
	} else if (g->fd > 0) {
		close(g->fd);
	}
	*g = (struct hn_redzone){0};
}

int hn_redzone_seal(struct hn_redzone *g, struct hn_err *err)
{
	size_t inner = g->region_bytes - 2 * PAGE;
	uint8_t *pages = g->region + PAGE;

	/* the kernel refuses the seal while a writable mapping exists */
	if (mmap(pages, inner, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED ||
	    fcntl(g->fd, F_ADD_SEALS,
		  F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
	    mmap(pages, inner, PROT_READ, MAP_SHARED | MAP_FIXED, g->fd, 0) ==
		    MAP_FAILED) {
		return hn_fail(err, HONE_E_NOMEM, "buffers: seal: %s", strerror(errno));
	}
	close(g->fd);
	g->fd = -1;
	return 0;
}

void hn_redzone_settle(struct hn_redzone *g)
{
	if (g->region != NULL && g->fd >= 0) {
		close(g->fd);
		g->fd = -1;
	}
}

static bool all_are(uint8_t byte, const uint8_t *begin, const uint8_t *end)
{
	for (const uint8_t *p = begin; p < end; p++) {
		if (*p != byte) {
			return false;
		}
	}
	return true;
}

bool hn_redzone_intact(const struct hn_redzone *g)
{
	return all_are(HN_REDZONE_CANARY, g->region + PAGE, g->data) &&
	       all_are(HN_REDZONE_CANARY, g->data + g->bytes,
		       g->region + g->region_bytes - PAGE);
}

void hn_redzone_mend(const struct hn_redzone *g)
{
	uint8_t *begin = g->region + PAGE, *end = g->region + g->region_bytes - PAGE;

	memset(begin, HN_REDZONE_CANARY, (size_t)(g->data - begin));
	memset(g->data + g->bytes, HN_REDZONE_CANARY, (size_t)(end - (g->data + g->bytes)));
}

/* The inaccessible pages around the data. */
struct beside {
	uint8_t *before, *behind;
};

static struct beside beside(const void *data, size_t bytes)
{
	uintptr_t at = (uintptr_t)data;

	return (struct beside){(uint8_t *)(at / PAGE * PAGE - PAGE),
			       (uint8_t *)align_up(at + bytes, PAGE)};
}

/* Written to, for a page that is not there yet is as slow to lanes that are masked off, and stays
 * away. */
static bool open_page(uint8_t *at)
{
	bool opened = mprotect(at, PAGE, PROT_READ | PROT_WRITE) == 0;

	if (opened) {
		memset(at, 0, PAGE);
	}
	return opened;
}

bool hn_redzone_open(const void *data, size_t bytes)
{
	struct beside b = beside(data, bytes);

	return open_page(b.before) && open_page(b.behind);
}

bool hn_redzone_shut(const void *data, size_t bytes)
{
	struct beside b = beside(data, bytes);
	bool clean = all_are(0, b.before, b.before + PAGE) &&
		     all_are(0, b.behind, b.behind + PAGE);

	return mprotect(b.before, PAGE, PROT_NONE) == 0 &&
	       mprotect(b.behind, PAGE, PROT_NONE) == 0 && clean;
}

void hn_redzone_populate(const struct hn_redzone *g, bool writing)
{
	/* older kernels refuse: then the first run pays */
	(void)madvise(g->region + PAGE, g->region_bytes - 2 * PAGE,
		      writing ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
}
