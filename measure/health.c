/* health.c -- see health.h. */
#include "measure/health.h"

#include <math.h>
#include <stdio.h>

#define FORGIVEN 8 /* clean canaries in a row: the back-off starts anew */
#define MAX_DOUBLINGS 6
#define LAST 8 /* the last board's rest: the first back-off by this */

const char *hn_health_name(enum hn_health_state s)
{
	static const char *const name[] = {"good", "suspect", "quarantined"};

	return name[s];
}

static void quarantine(struct hn_health *h, struct hn_back_off rest, int64_t now_ns)
{
	uint32_t k = h->n_back < MAX_DOUBLINGS ? h->n_back : MAX_DOUBLINGS;
	bool soon;

	h->state = HN_HEALTH_QUARANTINED;
	h->n_back++;
	h->vain_ns = h->n_vain++ == 0 ? now_ns : h->vain_ns;
	soon = rest.last && !hn_health_hopeless(h, rest.first_ns, now_ns);
	h->until_ns = now_ns + (soon ? rest.first_ns / LAST : rest.first_ns << k);
	h->n_quarantine++;
}

static bool clean(struct hn_health *h)
{
	h->state = HN_HEALTH_GOOD;
	h->n_vain = 0;
	if (++h->n_clean >= FORGIVEN) {
		h->n_back = 0;
	}
	return true;
}

/* Take the next canary; how far it is from what it is held against. */
static double step(struct hn_health *h, struct hn_canary c)
{
	if (h->n_canary++ == 0) {
		h->reference_ns = c.ns;
	} else if (c.wander > 0) {
		h->reference_ns = h->canary_ns;
	}
	h->canary_ns = c.ns;
	h->allowed = fmin(fmax(c.wander, HN_HEALTH_MOVED), HN_HEALTH_WANDER);
	return h->reference_ns > 0 ? c.ns / h->reference_ns - 1 : 0;
}

bool hn_health_canary(struct hn_health *h, struct hn_canary c, struct hn_back_off rest,
		      int64_t now_ns)
{
	bool anew = h->state == HN_HEALTH_QUARANTINED && c.wander > 0;
	double moved = step(h, c);

	if (anew) {
		h->state = HN_HEALTH_SUSPECT; /* the next one decides */
		return false;
	}
	if (fabs(moved) <= h->allowed) {
		return clean(h);
	}
	h->n_clean = 0;
	snprintf(h->why, sizeof h->why, "its canary takes %.4g us, %.1f %% %s than %s",
		 c.ns / 1e3, 100 * fabs(moved), moved > 0 ? "more" : "less",
		 c.wander > 0 ? "the one before" : "at first");
	if (h->state == HN_HEALTH_GOOD) {
		h->state = HN_HEALTH_SUSPECT;
	} else {
		quarantine(h, rest, now_ns);
	}
	return false;
}

void hn_health_lost(struct hn_health *h, const char *why, struct hn_back_off rest, int64_t now_ns)
{
	int64_t oldest;

	h->n_clean = 0;
	h->lost_ns[h->n_lost % HN_HEALTH_LOSSES] = now_ns;
	h->n_lost++;
	oldest = h->lost_ns[h->n_lost % HN_HEALTH_LOSSES];
	if (h->state == HN_HEALTH_QUARANTINED) {
		quarantine(h, rest, now_ns);
	} else if (h->n_lost >= HN_HEALTH_LOSSES && now_ns - oldest <= HN_HEALTH_LOSS_NS) {
		snprintf(h->why, sizeof h->why, "lost %d times within a minute: %.90s",
			 HN_HEALTH_LOSSES, why);
		quarantine(h, rest, now_ns);
	}
}

bool hn_health_resting(const struct hn_health *h, int64_t now_ns)
{
	return h->state == HN_HEALTH_QUARANTINED && now_ns < h->until_ns;
}

bool hn_health_hopeless(const struct hn_health *h, int64_t first_ns, int64_t now_ns)
{
	return h->state == HN_HEALTH_QUARANTINED && h->n_vain >= HN_HEALTH_GIVE_UP &&
	       now_ns - h->vain_ns >= HN_HEALTH_PATIENCE * first_ns;
}
