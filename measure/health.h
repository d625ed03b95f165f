/* measure/health.h -- whether a board's answers may be believed, by rule.
 *
 * A canary is a piece of work that never changes (board.h). If its time moves by more than 2 %,
 * the board has changed: what was measured since the last clean canary is measured again, and
 * the next canary comes at once.
 *
 * A board with a clock of its own is compared with its first canary, so that even a slow drift
 * is found. A board whose clock is not its own (a CPU whose frequency follows its neighbours'
 * load) says how far its canary wanders when nothing is wrong. It may move by so much instead of
 * 2 %, and is compared with the canary before, which is about the batch between the two.
 * Differences from hour to hour are left to finals, which are paired. After a back-off its first
 * canary says nothing: the second, at once, must agree with it.
 *
 *     GOOD -(moved)-> SUSPECT -(moved again)-> QUARANTINED -(back-off, then clean)-> GOOD
 *       ^                |                         |    ^
 *       +----(clean)-----+                         +----+ (moved, lost: back-off doubles)
 *
 * So a board that drifts is out within two canaries. A board that is lost three times within a
 * minute is out as well, and comes back through a canary too. The last board that is left rests
 * only for an eighth of the first back-off, each time, because nobody does its work meanwhile.
 * Pure: no clock, no process; time is handed in.
 *
 * Source: labgrid's and distcc's habit of leaving a failed host alone for a time.
 */
#ifndef HN_MEASURE_HEALTH_H
#define HN_MEASURE_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#define HN_HEALTH_MOVED 0.02  /* relative */
#define HN_HEALTH_WANDER 0.15 /* who wanders by more than this is not measuring */
#define HN_HEALTH_LOSSES 3   /* so many ... */
#define HN_HEALTH_LOSS_NS INT64_C(60000000000) /* ... within so long */
#define HN_HEALTH_GIVE_UP 5 /* quarantines without a clean canary between, and ... */
#define HN_HEALTH_PATIENCE 15 /* ... first back-offs since the first of them: nobody waits */

/* One canary. */
struct hn_canary {
	double ns;     /* 0 = this board has none, and lives */
	double wander; /* relative step between two when nothing is wrong; 0 = its clock is
			* its own */
};

enum hn_health_state { HN_HEALTH_GOOD, HN_HEALTH_SUSPECT, HN_HEALTH_QUARANTINED };

struct hn_health {
	enum hn_health_state state;
	double reference_ns; /* what the latest is held against; 0 = none yet, or it has none */
	double canary_ns;    /* the latest */
	double allowed;	     /* relative: how far the two may be apart */
	uint32_t n_canary, n_clean; /* all of them; clean ones in a row */
	uint32_t n_lost, n_quarantine; /* ever */
	int64_t lost_ns[HN_HEALTH_LOSSES]; /* ring by n_lost */
	uint32_t n_back;		   /* the back-off's exponent */
	uint32_t n_vain;		   /* quarantines since the last clean canary ... */
	int64_t vain_ns;		   /* ... and when the first of them was */
	int64_t until_ns;		   /* QUARANTINED: leave it alone until then */
	char why[160];			   /* of the last state other than GOOD */
};

/* How long a board rests. */
struct hn_back_off {
	int64_t first_ns; /* doubled up to 64 times by come-backs that fail */
	bool last;	  /* no other board is left: an eighth of that, while there is hope */
};

/* The board's next canary.  True: clean, what was measured since the last clean one counts. */
bool hn_health_canary(struct hn_health *h, struct hn_canary c, struct hn_back_off rest,
		      int64_t now_ns);

/* The process went away, or its canary failed. */
void hn_health_lost(struct hn_health *h, const char *why, struct hn_back_off rest,
		    int64_t now_ns);

/* It is to be left alone at this time. */
bool hn_health_resting(const struct hn_health *h, int64_t now_ns);

/* It has failed to come back so often that requests should not wait for it. */
bool hn_health_hopeless(const struct hn_health *h, int64_t first_ns, int64_t now_ns);

const char *hn_health_name(enum hn_health_state s); /* "good", "suspect", "quarantined" */

#endif
