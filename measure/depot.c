/* depot.c -- slots of a memfd, counted. */
#include "measure/depot.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/slot.h"

/* The same memory, to be read only; the file's mode is for who would open it once more. */
static int open_to_read(int fd)
{
	char path[40];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return fchmod(fd, S_IRUSR) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

void hn_depot_init(struct hn_depot *d)
{
	*d = (struct hn_depot){.boards_fd = -1};
	d->builders_fd = memfd_create("hone-depot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (d->builders_fd >= 0 &&
	    ftruncate(d->builders_fd, (off_t)HN_DEPOT_SLOTS * HN_SLOT_BYTES) == 0 &&
	    fcntl(d->builders_fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
		d->boards_fd = open_to_read(d->builders_fd);
	}
	if (d->boards_fd < 0) {
		hn_depot_fini(d);
		return;
	}
	for (uint32_t slot = HN_DEPOT_SLOTS - 1; slot > 0; slot--) {
		d->free[d->n_free++] = slot;
	}
}

void hn_depot_fini(struct hn_depot *d)
{
	if (d->builders_fd >= 0) {
		close(d->builders_fd);
	}
	if (d->boards_fd >= 0) {
		close(d->boards_fd);
	}
	*d = (struct hn_depot){.builders_fd = -1, .boards_fd = -1};
}

uint32_t hn_depot_take(struct hn_depot *d)
{
	uint32_t slot = d->n_free > 0 ? d->free[--d->n_free] : 0;

	hn_depot_hold(d, slot);
	return slot;
}

void hn_depot_hold(struct hn_depot *d, uint32_t slot)
{
	hn_assert(slot < HN_DEPOT_SLOTS);
	d->n_holder[slot] += slot != 0;
}

void hn_depot_let_go(struct hn_depot *d, uint32_t slot)
{
	if (slot == 0) {
		return;
	}
	hn_assert(slot < HN_DEPOT_SLOTS && d->n_holder[slot] > 0);
	if (--d->n_holder[slot] == 0) {
		d->free[d->n_free++] = slot;
	}
}
