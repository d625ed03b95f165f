/* client/cmd.h -- the contract of a verb of `hone`, and what verbs share.
 *
 * A verb is a function cmd_NAME and a row of cmds.def.  It prints its answer to standard
 * output and returns 0, or fails with one line in `err`; main prints that line and exits
 * with 10 plus the class.  Progress goes to standard error.
 */
#ifndef HN_CLIENT_CMD_H
#define HN_CLIENT_CMD_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "loopstate/dag/dag.h"

#define HN_WORDS_MAX 32

/* What an option that may be repeated was given. */
struct hn_words {
	uint32_t n;
	const char *word[HN_WORDS_MAX];
};

struct hn_opts {	 /* strings are argv's; NULL and 0 = not given */
	const char *arg; /* FILE, JOB, VERB or the first of two words */
	const char *arg2; /* the second, where the verb takes two */
	char *const *args; /* all of them, where the verb takes many */
	uint32_t n_arg;
	const char *text, *name, *key, *target, *out, *symbol, *record, *policy, *model;
	const char *tasks, *strategy, *fusion;
	struct hn_words dim, also;
	const char *dtype;
	const char *socket, *home, *forbid;
	const char *rules, *hardware, *records, *as, *map;
	const char *profile, *order; /* of the simulated NPU */
	int64_t trials; /* -1 = not given */
	int64_t seed, index, slots;
	double seconds, stop_gain;
	bool json, quiet, assembly, bitwise, cold, automatic, features, all, force,
		unchecked, embed, regions;
};

typedef int (*hn_cmd_fn)(const struct hn_opts *o, struct hn_err *err);

#define CMD(verb, args, text) int cmd_##verb(const struct hn_opts *o, struct hn_err *err);
#include "client/cmds.def"
#undef CMD

/* A computation given by the user, checked. All in the arena. */
struct hn_input {
	const struct hn_dag *dag;
	const char *json; /* compute-dag/1, compact */
	size_t json_bytes;
	const char *name; /* --name, the program's own, or made from the file's name */
	const char *key;
};

/* Read FILE ("-" = standard input) or --text; all of *ret lives in a. */
int hn_input_read(const struct hn_opts *o, struct hn_arena *a, struct hn_input *ret,
		  struct hn_err *err) HN_NODISCARD;

/* The key of FILE or --text, or --key, which stands alone. */
int hn_input_key(const struct hn_opts *o, struct hn_arena *a, const char **ret,
		 struct hn_err *err) HN_NODISCARD;

/* hn_input_read for a verb that takes sizes that are parameters, too. */
int hn_input_read_sized(const struct hn_opts *o, struct hn_arena *a, struct hn_input *ret,
			struct hn_err *err) HN_NODISCARD;

/* Whether a file, which is no pipe, has a computation in it. */
bool hn_input_is(const char *path, struct hn_arena *a);

/* "12.3 us", "1.23 ms": three significant digits. */
const char *hn_show_time(double ns, char text[32]);

/* How a naive time was found, where not by running all of it; and the end of its line. */
void hn_show_share(double share, struct hn_buf *b);

/* "5 min", "3 h", "12 d": how long ago that was. */
const char *hn_show_age(int64_t unix_ms, char text[32]);

/* ", cold caches" where times were taken so (HN_MARK_COLD), else "". */
const char *hn_show_cache(const char *cache);

/* A number, a text of a JSON object; 0, "" when it is not there. */
double hn_show_number(const struct hn_json *object, const char *key);
const char *hn_show_word(const struct hn_json *object, const char *key);

#endif
