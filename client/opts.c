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
#include <unistd.h>

#include "base/typo.h"
#include "client/show.h"

enum kind { STRING, WORDS, INT, COUNT, NUMBER, FLAG }; /* WORDS: may be repeated; COUNT: at least 0 */

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
	struct hn_words *words;
	double d;
	long long i;

	errno = 0;
	switch (o->kind) {
	case STRING:
		*(const char **)field = value;
		return 0;
	case WORDS:
		words = (struct hn_words *)field;
		if (words->n == HN_WORDS_MAX) {
			return hn_fail(err, HONE_E_INVALID, "--%s: more than %d of them", o->name,
				       HN_WORDS_MAX);
		}
		words->word[words->n++] = value;
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
 * one more; FILE..., any number; "", none. */
static int most_args(const char *verb)
{
	for (size_t i = 0; i < HN_COUNT_OF(verb_row); i++) {
		const char *args = verb_row[i].args;

		if (strcmp(verb_row[i].name, verb) == 0) {
			return strstr(args, "FILE...") != NULL	       ? INT_MAX
			       : islower((unsigned char)args[0]) != 0 ? 2
								       : args[0] != '\0';
		}
	}
	return 1;
}

/* Of getopt's complaints about one word, the one that helps. */
static int refuse_long(const char *verb, const char *word, struct hn_err *err)
{
	const char *known[N_OPT], *near;
	size_t n = 0, length = strcspn(word, "=");
	char name[64], spelt[32];
	struct hn_buf fits;
	int rc;

	snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), word);
	hn_opts_spell(verb, spelt);
	hn_buf_init(&fits);
	for (size_t i = 0; i < N_OPT; i++) {
		if (takes(&opt_row[i], verb)) {
			known[n++] = opt_row[i].name;
			if (strncmp(opt_row[i].name, name, strlen(name)) == 0) {
				hn_buf_printf(&fits, "%s--%s", fits.n > 0 ? ", " : "",
					      opt_row[i].name);
			}
		}
	}
	near = hn_typo_nearest(name, known, n);
	if (strchr(fits.s, ',') != NULL) {
		rc = hn_fail(err, HONE_E_INVALID, "--%s: could be %s", name, fits.s);
	} else if (near != NULL) {
		rc = hn_fail(err, HONE_E_INVALID,
			     "--%s: no such option (did you mean --%s?); see `hone help %s`",
			     name, near, spelt);
	} else {
		rc = hn_fail(err, HONE_E_INVALID, "--%s: no such option; see `hone help %s`",
			     name, spelt);
	}
	hn_buf_fini(&fits);
	return rc;
}

/* What getopt did not like: an option without its value, a value for one that takes none, or a
 * word that is no option. */
static int refuse(int code, const char *verb, const char *word, struct hn_err *err)
{
	const struct opt *o = by_code(optopt);
	char spelt[32];

	hn_opts_spell(verb, spelt);
	if (code == ':') {
		return hn_fail(err, HONE_E_INVALID, "--%s: needs a value; see `hone help %s`",
			       o != NULL ? o->name : word, spelt);
	}
	if (optopt >= 1000 || (optopt == 'h' && strncmp(word, "--help=", 7) == 0)) {
		return hn_fail(err, HONE_E_INVALID, "--%s: takes no value",
			       optopt == 'h' ? "help" : o->name);
	}
	if (optopt != 0) {
		return hn_fail(err, HONE_E_INVALID, "-%c: no such option; see `hone help %s`",
			       isprint(optopt) ? optopt : '?', spelt);
	}
	return refuse_long(verb, word + 2, err);
}

int hn_opts_parse(const char *verb, int argc, char **argv, struct hn_opts *ret,
		  struct hn_err *err)
{
	struct option longs[N_OPT + 2];
	char shorts[3 * N_OPT + 8];
	int code, rc;

	tables(verb, longs, shorts);
	ret->trials = -1;
	ret->seconds = -1;
	ret->slots = -1;
	opterr = 0;
	optind = 1;
	while ((code = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (code == 'h') {
			return 1;
		}
		if (code == '?' || code == ':') {
			return refuse(code, verb, argv[optind - 1], err);
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
		char spelt[32];

		return hn_fail(err, HONE_E_INVALID,
			       "%.60s: one argument too many; see `hone help %s`",
			       ret->args[most_args(verb)], hn_opts_spell(verb, spelt));
	}
	return 0;
}

const char *hn_opts_nearest(const char *word)
{
	const char *known[HN_COUNT_OF(verb_row)];
	char name[32];

	for (size_t i = 0; i < HN_COUNT_OF(verb_row); i++) {
		known[i] = verb_row[i].name;
	}
	return hn_typo_nearest(hn_opts_unspell(word, name), known, HN_COUNT_OF(verb_row));
}

#define NARROWEST 40
#define WIDEST 100
#define INDENT 28 /* of what an option does */
#define NARROW_INDENT 8

static size_t columns(void)
{
	int n = hn_show_columns(STDOUT_FILENO);

	return (size_t)(n < NARROWEST ? NARROWEST : n > WIDEST ? WIDEST : n);
}

/* Words in lines that fit, each begun at column `indent`; the first stands at `at` already. */
static void print_wrapped(const char *text, size_t at, size_t indent)
{
	size_t width = columns(), blank = 0;

	while (*text != '\0') {
		size_t n = strcspn(text, " ");

		if (at + blank + n >= width && at > indent) {
			printf("\n%*s", (int)indent, "");
			at = indent;
			blank = 0;
		}
		printf("%*s%.*s", (int)blank, "", (int)n, text);
		at += blank + n;
		text += n + strspn(text + n, " ");
		blank = 1;
	}
	putchar('\n');
}

void hn_opts_print_verbs(void)
{
	print_wrapped("hone: finds fast kernels for tensor programs by search", 0, 0);
	puts("\nusage: hone VERB ...\n");
	for (size_t i = 0; i < HN_COUNT_OF(verb_row); i++) {
		char verb[32];

		printf("  %-11s ", hn_opts_spell(verb_row[i].name, verb));
		print_wrapped(verb_row[i].text, 14, 14);
	}
	putchar('\n');
	print_wrapped("`hone help VERB` prints what a verb takes. Exit status: 0; 10 plus the "
		      "class of the error; 130 after Ctrl-C, 143 after SIGTERM.", 0, 0);
}

static void print_option(const struct opt *o)
{
	char letter[8] = "", head[64];
	int n;

	if (o->letter != 0) {
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	}
	n = snprintf(head, sizeof head, "  %4s--%s%s%s", letter, o->name, *o->arg != '\0' ? " " : "",
		     o->arg);
	if (columns() < 2 * INDENT) {
		printf("%s\n%*s", head, NARROW_INDENT, "");
		print_wrapped(o->text, NARROW_INDENT, NARROW_INDENT);
	} else {
		printf("%-*s", INDENT, head);
		print_wrapped(o->text, n > INDENT ? (size_t)n : INDENT, INDENT);
	}
}

bool hn_opts_print_verb(const char *verb)
{
	for (size_t i = 0; i < HN_COUNT_OF(verb_row); i++) {
		if (strcmp(verb, verb_row[i].name) != 0) {
			continue;
		}
		char spelt[32];

		printf("usage: hone %s%s%s\n", hn_opts_spell(verb, spelt), *verb_row[i].args != '\0' ? " " : "",
		       verb_row[i].args);
		print_wrapped(verb_row[i].text, 0, 0);
		for (size_t k = 0; k < N_OPT; k++) {
			if (takes(&opt_row[k], verb)) {
				print_option(&opt_row[k]);
			}
		}
		return true;
	}
	return false;
}
