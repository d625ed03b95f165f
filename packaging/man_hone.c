/* packaging/man_hone.c -- writes the manual page of `hone` from the tables that its help is made of,
 * so that the two say the same. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *args, *text;
} verbs[] = {
#define CMD(verb, args, text) { #verb, args, text },
#include "client/cmds.def"
#undef CMD
};

static const struct {
	const char *name;
	int letter;
	const char *arg, *verbs, *text;
} options[] = {
#define OPT(field, long, letter, kind, arg, verbs, text) { long, letter, arg, verbs, text },
#include "client/opts.def"
#undef OPT
};

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* Text that no macro or escape is seen in. */
static void put(const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s == '\\') {
			fputs("\\e", stdout);
		} else if (*s == '-') {
			fputs("\\-", stdout);
		} else {
			putchar(*s);
		}
	}
}

/* The same as a paragraph of short lines. */
static void put_lines(const char *s)
{
	fputs("\\&", stdout);
	for (int column = 0; *s != '\0'; column++) {
		char one[2] = { *s++, '\0' };

		if (*one == ' ' && (column > 66 || (column > 40 && (s[-2] == '.' || s[-2] == ';')))) {
			fputs("\n\\&", stdout);
			column = 0;
		} else {
			put(one);
		}
	}
	putchar('\n');
}

static void put_spelt(const char *verb)
{
	for (; *verb != '\0'; verb++) {
		fputs(*verb == '_' ? "\\-" : (char[]){ *verb, '\0' }, stdout);
	}
}

/* A quoted argument of a macro. */
static void put_word(const char *s)
{
	putchar('"');
	for (; *s != '\0'; s++) {
		fputs(*s == '"' ? "\\(dq" : *s == '\\' ? "\\e" : (char[]){ *s, '\0' }, stdout);
	}
	putchar('"');
}

static int takes(const char *list, const char *verb)
{
	size_t n = strlen(verb);

	for (const char *p = list; (p = strstr(p, verb)) != NULL; p += n) {
		if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) {
			return 1;
		}
	}
	return 0;
}

static void put_verb(size_t i)
{
	int begun = 0;

	fputs(".Ss hone ", stdout);
	put_spelt(verbs[i].name);
	putchar('\n');
	if (*verbs[i].args != '\0') {
		fputs(".Dl ", stdout);
		put(verbs[i].args);
		fputs("\n.Pp\n", stdout);
	}
	put_lines(verbs[i].text);
	for (size_t k = 0; k < COUNT_OF(options); k++) {
		if (!takes(options[k].verbs, verbs[i].name)) {
			continue;
		}
		fputs(begun++ ? "" : ".Bl -tag -width Ds\n", stdout);
		fputs(".It ", stdout);
		if (options[k].letter != 0) {
			printf("Fl %c , ", options[k].letter);
		}
		printf("Fl \\-%s", options[k].name);
		if (*options[k].arg != '\0') {
			fputs(" Ar ", stdout);
			put_word(options[k].arg);
		}
		putchar('\n');
		put_lines(options[k].text);
	}
	fputs(begun ? ".El\n" : "", stdout);
}

int main(void)
{
	fputs(".Dd November 26, 2026\n.Dt HONE 1\n.Os\n.Sh NAME\n.Nm hone\n"
	      ".Nd find fast kernels for tensor programs by search\n.Sh SYNOPSIS\n.Nm\n"
	      ".Ar VERB\n.Op Ar options\n.Sh DESCRIPTION\n.Nm\n"
	      "searches for fast machine code for a computation on tensors, proves it\n"
	      "legal, compares its answers, measures it, and keeps the result for good.\n"
	      "A verb says what is wanted.\n",
	      stdout);
	for (size_t i = 0; i < COUNT_OF(verbs); i++) {
		put_verb(i);
	}
	fputs(".Sh ENVIRONMENT\n.Bl -tag -width HONE_SOCKET\n.It Ev HONE_HOME\n"
	      "The directory of the store; else\n.Pa ~/.local/share/hone .\n.It Ev HONE_SOCKET\n"
	      "The socket of\n.Xr honed 1 ;\nelse\n.Pa $XDG_RUNTIME_DIR/hone/honed.sock .\n.El\n"
	      ".Sh EXIT STATUS\n0; 10 and the class of the error; 130 after Ctrl\\-C, 143 after SIGTERM.\n"
	      ".Sh SEE ALSO\n.Xr hone-build 1 ,\n.Xr honed 1\n",
	      stdout);
	return 0;
}
