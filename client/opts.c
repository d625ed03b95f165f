/* client/opts.c -- reading options by table; help from the same table. */
#include "client/opts.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { STRING, INT, COUNT, NUMBER, FLAG }; /* COUNT: at least 0 */

struct opt {
	const char *name;
	int letter;
	enum kind kind;
	const char *arg, *verbs, *text;
	size_t at; /* in struct hn_opts */
};

static const struct opt opt_row[] = {
#define OPT(field, long, letter, kind, arg, verbs, text)                                 \
	{ long, letter, kind, arg, verbs, text, offsetof(struct hn_opts, field) },
#include "client/opts.def"
#undef OPT
};

#define N_OPT HN_COUNT_OF(opt_row)

static const struct {
	const char *name, *args, *text;
} verb_row[] = {
#define CMD(verb, args, text) { #verb, args, text },
#include "client/cmds.def"
#undef CMD
};

static const char *exchange(const char *from, char a, char b, char text[32])
{
	snprintf(text, 32, "%s", from);
	for (char *p = text; *p != '\0'; p++) {
		*p = *p == a ? b : *p;
	}
	return text;
}

const char *hn_opts_spell(const char *verb, char text[32])
{
	return exchange(verb, '_', '-', text);
}

const char *hn_opts_unspell(const char *word, char text[32])
{
	return exchange(word, '-', '_', text);
}

static bool takes(const struct opt *o, const char *verb)
{
	const char *at = o->verbs;
	size_t n = strlen(verb);

	while ((at = strstr(at, verb)) != NULL) {
		if ((at == o->verbs || at[-1] == ' ') &&
		    (at[n] == ' ' || at[n] == '\0')) {
			return true;
		}
		at += n;
	}
	return false;
}

static int store(const struct opt *o, const char *value, struct hn_opts *ret,
		 struct hn_err *err)
{
	char *field = (char *)ret + o->at, *end = NULL;
	double d;
	long long i;

	errno = 0;
	switch (o->kind) {
	case STRING:
		*(const char **)field = value;
		return 0;
	case FLAG:
		*(bool *)field = true;
		return 0;
	case INT:
	case COUNT:
		i = strtoll(value, &end, 10);
		if (end == value || *end != '\0' || errno != 0 ||
		    (o->kind == COUNT && i < 0)) {
			return hn_fail(err, HONE_E_INVALID,
				       "--%s: \"%.40s\" is not a whole number%s", o->name,
				       value, o->kind == COUNT ? " of 0 or more" : "");
		}
		*(int64_t *)field = i;
		return 0;
	default:
		d = strtod(value, &end);
		if (end == value || *end != '\0' || !isfinite(d) || d < 0) {
			return hn_fail(err, HONE_E_INVALID,
				       "--%s: \"%.40s\" is not a number of at least 0",
				       o->name, value);
		}
		*(double *)field = d;
		return 0;
	}
}

/* getopt's tables for a verb. */
static void tables(const char *verb, struct option *longs, char *shorts)
{
	size_t n = 0;

	*shorts++ = ':';
	for (size_t i = 0; i < N_OPT; i++) {
		const struct opt *o = &opt_row[i];
		int has_arg = o->kind == FLAG ? no_argument : required_argument;

		if (!takes(o, verb)) {
			continue;
		}
		longs[n++] = (struct option){ o->name, has_arg, NULL, 1000 + (int)i };
		if (o->letter != 0) {
			*shorts++ = (char)o->letter;
			if (o->kind != FLAG) {
				*shorts++ = ':';
			}
		}
	}
	longs[n++] = (struct option){ "help", no_argument, NULL, 'h' };
	longs[n] = (struct option){ 0 };
	*shorts++ = 'h';
	*shorts = '\0';
}

static const struct opt *by_code(int code)
{
	if (code >= 1000) {
		return &opt_row[code - 1000];
	}
	for (size_t i = 0; i < N_OPT; i++) {
		if (opt_row[i].letter == code) {
			return &opt_row[i];
		}
	}
	return NULL;
}

/* How many arguments the verb takes: those that begin with a word in lower case, that word and
 * one more; FILE..., any number. */
static int most_args(const char *verb)
{
	for (size_t i = 0; i < HN_COUNT_OF(verb_row); i++) {
		const char *args = verb_row[i].args;

		if (strcmp(verb_row[i].name, verb) == 0) {
			return strstr(args, "FILE...") != NULL	       ? INT_MAX
			       : islower((unsigned char)args[0]) != 0 ? 2
								       : 1;
		}
	}
	return 1;
}

int hn_opts_parse(const char *verb, int argc, char **argv, struct hn_opts *ret,
		  struct hn_err *err)
{
	struct option longs[N_OPT + 2];
	char shorts[3 * N_OPT + 8];
	int code, rc;

	tables(verb, longs, shorts);
	ret->trials = -1;
	opterr = 0;
	optind = 1;
	while ((code = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (code == 'h') {
			return 1;
		}
		if (code == '?' || code == ':') {
			return hn_fail(err, HONE_E_INVALID,
				       "%.60s: %s; see `hone help %s`", argv[optind - 1],
				       code == ':' ? "needs a value" : "no such option",
				       verb);
		}
		rc = store(by_code(code), optarg, ret, err);
		if (rc != 0) {
			return rc;
		}
	}
	ret->args = argv + optind; /* getopt has put them last */
	ret->n_arg = (uint32_t)(argc - optind);
	ret->arg = ret->n_arg > 0 ? ret->args[0] : NULL;
	ret->arg2 = ret->n_arg > 1 ? ret->args[1] : NULL;
	if (argc - optind > most_args(verb)) {
		return hn_fail(err, HONE_E_INVALID,
			       "%.60s: one argument too many; see `hone help %s`",
			       ret->args[most_args(verb)], verb);
	}
	return 0;
}

/* Letters in common places: enough for a slip of the finger. */
static size_t likeness(const char *x, const char *y)
{
	size_t n = 0;

	for (const char *p = x; *p != '\0'; p++) {
		n += strchr(y, *p) != NULL;
	}
	return x[0] == y[0] ? n + 1 : n;
}

const char *hn_opts_nearest(const char *word)
{
	const char *best = NULL;
	size_t most = strlen(word) / 2 + 1;

	for (size_t i = 0; i < HN_COUNT_OF(verb_row); i++) {
		size_t n = likeness(word, verb_row[i].name);

		if (n > most && strlen(word) <= strlen(verb_row[i].name) + 2) {
			most = n;
			best = verb_row[i].name;
		}
	}
	return best;
}

void hn_opts_print_verbs(void)
{
	puts("hone: finds fast kernels for tensor programs by search\n\nusage: hone VERB "
	     "...\n");
	for (size_t i = 0; i < HN_COUNT_OF(verb_row); i++) {
		char verb[32];

		printf("  %-10s %-36s %s\n", hn_opts_spell(verb_row[i].name, verb),
		       verb_row[i].args, verb_row[i].text);
	}
	puts("\n`hone help VERB` prints a verb's options.  Exit status: 0, or 10 plus "
	     "the class of "
	     "the error.");
}

bool hn_opts_print_verb(const char *verb)
{
	for (size_t i = 0; i < HN_COUNT_OF(verb_row); i++) {
		if (strcmp(verb, verb_row[i].name) != 0) {
			continue;
		}
		char spelt[32];

		printf("usage: hone %s %s\n%s\n", hn_opts_spell(verb, spelt),
		       verb_row[i].args, verb_row[i].text);
		for (size_t k = 0; k < N_OPT; k++) {
			const struct opt *o = &opt_row[k];
			char letter[8] = "";

			if (takes(o, verb)) {
				if (o->letter != 0) {
					snprintf(letter, sizeof(letter), "-%c, ",
						 o->letter);
				}
				printf("  %4s--%-8s %-8s %s\n", letter, o->name, o->arg,
				       o->text);
			}
		}
		return true;
	}
	return false;
}
