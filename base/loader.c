/* base/loader.c -- a relocatable object becomes code.
 *
 *     region:  [ text | PLT | read-only | GOT | data, bss ]     page-aligned groups
 *                  R X               R              R W            after loading
 *
 * Every symbol has a GOT slot and a PLT entry, used or not: kernels have few symbols, and one
 * pass over the relocations is enough.  Unwind tables and debug sections are left out; a
 * reference into them from a section that is kept is refused.
 */
#include "base/loader.h"

#include <elf.h>
#include <stdbool.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/loader_int.h"

#define MAX_SECTIONS 4096
#define MAX_SYMBOLS 65536
#define MAX_REGION ((uint64_t)64 << 20)
#define PAGE 4096u

enum group { TEXT, CONST, DATA, N_GROUP };

struct export
{
	const char *name;
	uint64_t address, bytes;
	bool code; /* a function; else constant data */
};

struct hn_object {
	struct hn_arena arena;
	uint8_t *region;
	size_t region_bytes;
	uint8_t *data; /* group DATA in the region */
	size_t data_bytes;
	uint32_t n_export;
	struct export *export;
};

/* Where a section went; `kept` ones have an address. */
struct place {
	bool kept;
	enum group group;
	uint64_t offset; /* in the region */
};

struct loading {
	const uint8_t *bytes;
	size_t n;
	uint32_t n_section, n_symbol;
	Elf64_Shdr *section;
	struct place *place;
	Elf64_Sym *symbol;
	uint64_t *value; /* address of each symbol */
	bool *known;	 /* whether it has one */
	const char *names;
	uint64_t names_bytes;
	uint64_t got, plt; /* offsets in the region */
	uint64_t begin[N_GROUP], end[N_GROUP];
	struct hn_object *o;
	struct hn_err *err;
};

static const struct {
	const char *name;
	void (*address)(void);
} allowed[] = {
#define FN(fn) { #fn, (void (*)(void))fn }, { #fn "f", (void (*)(void))fn##f },
#define SYM(fn) { #fn, (void (*)(void))fn },
#include "base/loader_syms.def"
#undef FN
#undef SYM
};

static int invalid(struct loading *l, const char *what)
{
	return hn_fail(l->err, HONE_E_INVALID, "object: %s", what);
}

static bool inside(uint64_t offset, uint64_t bytes, uint64_t n)
{
	return offset <= n && bytes <= n - offset;
}

static int read_header(struct loading *l, struct hn_arena *a)
{
	Elf64_Ehdr h;

	if (l->n < sizeof h) {
		return invalid(l, "too short");
	}
	memcpy(&h, l->bytes, sizeof h);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB ||
	    h.e_type != ET_REL) {
		return invalid(l, "not a 64-bit relocatable ELF file");
	}
	if (hn_reloc_native == NULL || h.e_machine != hn_reloc_native->e_machine) {
		return hn_fail(l->err, HONE_E_UNSUPPORTED,
			       "object: for another machine (%u)", h.e_machine);
	}
	if (h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shnum == 0 ||
	    h.e_shnum > MAX_SECTIONS ||
	    !inside(h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr), l->n)) {
		return invalid(l, "bad section table");
	}
	l->n_section = h.e_shnum;
	l->section = HN_NEW_ARRAY(a, Elf64_Shdr, l->n_section);
	l->place = HN_NEW_ARRAY(a, struct place, l->n_section);
	memcpy(l->section, l->bytes + h.e_shoff, l->n_section * sizeof(Elf64_Shdr));
	for (uint32_t i = 1; i < l->n_section; i++) {
		const Elf64_Shdr *s = &l->section[i];

		if (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL &&
		    !inside(s->sh_offset, s->sh_size, l->n)) {
			return invalid(l, "section outside the file");
		}
	}
	return 0;
}

/* The one symbol table and its names. */
static int read_symbols(struct loading *l, struct hn_arena *a)
{
	const Elf64_Shdr *table = NULL, *names;

	for (uint32_t i = 1; i < l->n_section; i++) {
		if (l->section[i].sh_type == SHT_SYMTAB) {
			if (table != NULL) {
				return invalid(l, "two symbol tables");
			}
			table = &l->section[i];
		}
	}
	if (table == NULL || table->sh_size % sizeof(Elf64_Sym) != 0 ||
	    table->sh_size / sizeof(Elf64_Sym) > MAX_SYMBOLS || table->sh_size == 0) {
		return invalid(l, "bad symbol table");
	}
	if (table->sh_link == 0 || table->sh_link >= l->n_section) {
		return invalid(l, "symbol names missing");
	}
	names = &l->section[table->sh_link];
	if (names->sh_type != SHT_STRTAB || names->sh_size == 0 ||
	    l->bytes[names->sh_offset + names->sh_size - 1] != '\0') {
		return invalid(l, "bad symbol names");
	}
	l->names = (const char *)l->bytes + names->sh_offset;
	l->names_bytes = names->sh_size;
	l->n_symbol = (uint32_t)(table->sh_size / sizeof(Elf64_Sym));
	l->symbol = HN_NEW_ARRAY(a, Elf64_Sym, l->n_symbol);
	l->value = HN_NEW_ARRAY(a, uint64_t, l->n_symbol);
	l->known = HN_NEW_ARRAY(a, bool, l->n_symbol);
	memcpy(l->symbol, l->bytes + table->sh_offset, table->sh_size);
	return 0;
}

static uint64_t align_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

/* Decide whether section i is kept, and in which group. */
static int sort_section(struct loading *l, uint32_t i)
{
	const Elf64_Shdr *s = &l->section[i];

	if ((s->sh_flags & SHF_ALLOC) == 0 || s->sh_size == 0 ||
	    s->sh_type == SHT_X86_64_UNWIND || s->sh_type == SHT_NOTE) {
		return 0;
	}
	if (s->sh_type != SHT_PROGBITS && s->sh_type != SHT_NOBITS) {
		return hn_fail(l->err, HONE_E_UNSUPPORTED,
			       "object: section type %u (initialisers?) is not allowed",
			       s->sh_type);
	}
	if ((s->sh_flags & SHF_TLS) != 0 ||
	    ((s->sh_flags & SHF_WRITE) != 0 && (s->sh_flags & SHF_EXECINSTR) != 0)) {
		return hn_fail(
			l->err, HONE_E_UNSUPPORTED,
			"object: thread-local or writable code sections not allowed");
	}
	if (s->sh_addralign > PAGE || (s->sh_addralign & (s->sh_addralign - 1)) != 0 ||
	    s->sh_size > MAX_REGION) {
		return invalid(l, "section too large or strangely aligned");
	}
	l->place[i].kept = true;
	l->place[i].group = (s->sh_flags & SHF_EXECINSTR) != 0 ? TEXT
			    : (s->sh_flags & SHF_WRITE) != 0   ? DATA
							       : CONST;
	return 0;
}

static void lay_group(struct loading *l, enum group g, uint64_t *at)
{
	*at = align_up(*at, PAGE);
	l->begin[g] = *at;
	for (uint32_t i = 1; i < l->n_section; i++) {
		const Elf64_Shdr *s = &l->section[i];

		if (l->place[i].kept && l->place[i].group == g && *at <= MAX_REGION) {
			*at = align_up(*at, s->sh_addralign > 0 ? s->sh_addralign : 1);
			l->place[i].offset = *at;
			*at += s->sh_size;
		}
	}
	if (g == TEXT) {
		l->plt = align_up(*at, 16);
		*at = l->plt + (uint64_t)l->n_symbol * hn_reloc_native->plt_bytes;
	} else if (g == CONST) {
		l->got = align_up(*at, 8);
		*at = l->got + (uint64_t)l->n_symbol * 8;
	}
	l->end[g] = align_up(*at, PAGE);
}

static int lay_out(struct loading *l)
{
	uint64_t at = 0;

	for (uint32_t i = 1; i < l->n_section; i++) {
		int rc = sort_section(l, i);

		if (rc != 0) {
			return rc;
		}
	}
	for (int g = 0; g < N_GROUP; g++) {
		lay_group(l, (enum group)g, &at);
	}
	at = align_up(at, PAGE);
	if (at > MAX_REGION) {
		return invalid(l, "too large");
	}
	l->o->region = mmap(NULL, at, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	if (l->o->region == MAP_FAILED) {
		l->o->region = NULL;
		return hn_fail(l->err, HONE_E_NOMEM, "object: out of memory");
	}
	l->o->region_bytes = at;
	l->o->data = l->o->region + l->begin[DATA];
	l->o->data_bytes = l->end[DATA] - l->begin[DATA];
	for (uint32_t i = 1; i < l->n_section; i++) {
		if (l->place[i].kept && l->section[i].sh_type == SHT_PROGBITS) {
			memcpy(l->o->region + l->place[i].offset,
			       l->bytes + l->section[i].sh_offset, l->section[i].sh_size);
		}
	}
	return 0;
}

static uint64_t address_of(const struct loading *l, uint64_t offset)
{
	return (uint64_t)(uintptr_t)l->o->region + offset;
}

static bool find_allowed(const char *name, uint64_t *ret)
{
	for (size_t i = 0; i < HN_COUNT_OF(allowed); i++) {
		if (strcmp(allowed[i].name, name) == 0) {
			*ret = (uint64_t)(uintptr_t)allowed[i].address;
			return true;
		}
	}
	return false;
}

/* The symbol's address; false when it has none (which is wrong only if it is used). */
static bool resolve(const struct loading *l, const Elf64_Sym *s, uint64_t *ret)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	if (type == STT_TLS || type == STT_GNU_IFUNC || s->st_name >= l->names_bytes) {
		return false;
	}
	if (s->st_shndx == SHN_UNDEF) {
		*ret = 0; /* a weak one may be missing */
		return find_allowed(l->names + s->st_name, ret) ||
		       ELF64_ST_BIND(s->st_info) == STB_WEAK;
	}
	if (s->st_shndx >= l->n_section || !l->place[s->st_shndx].kept ||
	    s->st_value > l->section[s->st_shndx].sh_size) {
		return false;
	}
	*ret = address_of(l, l->place[s->st_shndx].offset + s->st_value);
	return true;
}

static void resolve_all(struct loading *l)
{
	for (uint32_t i = 1; i < l->n_symbol; i++) {
		uint64_t got = l->got + (uint64_t)i * 8;
		uint64_t entry = l->plt + (uint64_t)i * hn_reloc_native->plt_bytes;

		l->known[i] = resolve(l, &l->symbol[i], &l->value[i]);
		memcpy(l->o->region + got, &l->value[i], 8);
		hn_reloc_native->plt(l->o->region + entry, address_of(l, entry),
				     address_of(l, got));
	}
}

static int apply_one(struct loading *l, uint32_t target, const Elf64_Rela *rel)
{
	const Elf64_Shdr *s = &l->section[target];
	uint64_t i_symbol = ELF64_R_SYM(rel->r_info), offset;
	uint32_t type = (uint32_t)ELF64_R_TYPE(rel->r_info);
	int width = hn_reloc_native->width(type);
	struct hn_reloc r;

	if (width < 0) {
		return hn_fail(l->err, HONE_E_UNSUPPORTED, "object: relocation type %u",
			       type);
	}
	if (width == 0) {
		return 0;
	}
	if (i_symbol == 0 || i_symbol >= l->n_symbol ||
	    !inside(rel->r_offset, (uint64_t)width, s->sh_size)) {
		return invalid(l, "relocation outside its section or symbol table");
	}
	if (!l->known[i_symbol]) {
		uint32_t name = l->symbol[i_symbol].st_name;

		return hn_fail(l->err, HONE_E_UNSUPPORTED,
			       "object: symbol \"%.80s\" is not allowed",
			       name < l->names_bytes ? l->names + name : "?");
	}
	offset = l->place[target].offset + rel->r_offset;
	r = (struct hn_reloc){
		.type = type,
		.at = l->o->region + offset,
		.room = s->sh_size - rel->r_offset,
		.place = address_of(l, offset),
		.symbol = l->value[i_symbol],
		.addend = rel->r_addend,
		.got = address_of(l, l->got + i_symbol * 8),
		.plt = address_of(l, l->plt + i_symbol * hn_reloc_native->plt_bytes),
	};
	return hn_reloc_native->apply(&r, l->err);
}

static int relocate(struct loading *l)
{
	for (uint32_t i = 1; i < l->n_section; i++) {
		const Elf64_Shdr *s = &l->section[i];

		if ((s->sh_type != SHT_RELA && s->sh_type != SHT_REL) ||
		    s->sh_info >= l->n_section || !l->place[s->sh_info].kept) {
			continue;
		}
		if (s->sh_type == SHT_REL || s->sh_size % sizeof(Elf64_Rela) != 0 ||
		    l->section[s->sh_info].sh_type == SHT_NOBITS) {
			return invalid(l, "bad relocation section");
		}
		for (uint64_t at = 0; at < s->sh_size; at += sizeof(Elf64_Rela)) {
			Elf64_Rela rel;
			int rc;

			memcpy(&rel, l->bytes + s->sh_offset + at, sizeof rel);
			rc = apply_one(l, s->sh_info, &rel);
			if (rc != 0) {
				return rc;
			}
		}
	}
	return 0;
}

static int protect(struct loading *l)
{
	static const int prot[N_GROUP] = { PROT_READ | PROT_EXEC, PROT_READ,
					   PROT_READ | PROT_WRITE };

	for (int g = 0; g < N_GROUP; g++) {
		size_t bytes = l->end[g] - l->begin[g];

		if (bytes > 0 &&
		    mprotect(l->o->region + l->begin[g], bytes, prot[g]) != 0) {
			return hn_fail(l->err, HONE_E_NOMEM,
				       "object: cannot protect memory");
		}
	}
	__builtin___clear_cache((char *)l->o->region + l->begin[TEXT],
				(char *)l->o->region + l->end[TEXT]);
	return 0;
}

static void keep_exports(struct loading *l)
{
	struct hn_object *o = l->o;

	o->export = HN_NEW_ARRAY(&o->arena, struct export, l->n_symbol);
	for (uint32_t i = 1; i < l->n_symbol; i++) {
		const Elf64_Sym *s = &l->symbol[i];
		bool code = ELF64_ST_TYPE(s->st_info) == STT_FUNC;

		if (l->known[i] && s->st_shndx != SHN_UNDEF &&
		    (code || ELF64_ST_TYPE(s->st_info) == STT_OBJECT) &&
		    ELF64_ST_BIND(s->st_info) != STB_LOCAL &&
		    l->place[s->st_shndx].group == (code ? TEXT : CONST) &&
		    s->st_value < l->section[s->st_shndx].sh_size) {
			uint64_t room = l->section[s->st_shndx].sh_size - s->st_value;

			o->export[o->n_export++] = (struct export){
				.name = hn_arena_strdup(&o->arena, l->names + s->st_name),
				.address = l->value[i],
				.bytes = s->st_size < room ? s->st_size : room,
				.code = code,
			};
		}
	}
}

int hn_object_load(const void *bytes, size_t n, struct hn_object **ret,
		   struct hn_err *err)
{
	struct loading l = { .bytes = bytes, .n = n, .err = err };
	struct hn_arena scratch;
	int rc;

	l.o = calloc(1, sizeof *l.o);
	if (l.o == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "object: out of memory");
	}
	hn_arena_init(&l.o->arena, 0);
	hn_arena_init(&scratch, 0);
	rc = read_header(&l, &scratch);
	rc = rc != 0 ? rc : read_symbols(&l, &scratch);
	rc = rc != 0 ? rc : lay_out(&l);
	if (rc == 0) {
		resolve_all(&l);
		rc = relocate(&l);
	}
	rc = rc != 0 ? rc : protect(&l);
	if (rc == 0) {
		keep_exports(&l);
		*ret = l.o;
	} else {
		hn_object_free(l.o);
	}
	hn_arena_fini(&scratch);
	return rc;
}

int hn_object_freeze(struct hn_object *o, const void **ret_data, size_t *ret_bytes,
		     struct hn_err *err)
{
	if (o->data_bytes > 0 && mprotect(o->data, o->data_bytes, PROT_READ) != 0) {
		return hn_fail(err, HONE_E_NOMEM, "object: cannot protect memory");
	}
	*ret_data = o->data;
	*ret_bytes = o->data_bytes;
	return 0;
}

void hn_object_free(struct hn_object *o)
{
	if (o == NULL) {
		return;
	}
	if (o->region != NULL) {
		munmap(o->region, o->region_bytes);
	}
	hn_arena_fini(&o->arena);
	free(o);
}

void (*hn_object_function(const struct hn_object *o, const char *name))(void)
{
	for (uint32_t i = 0; i < o->n_export; i++) {
		if (o->export[i].code && strcmp(o->export[i].name, name) == 0) {
			return (void (*)(void))(uintptr_t)o->export[i].address;
		}
	}
	return NULL;
}

const void *hn_object_constant(const struct hn_object *o, const char *ending, size_t *ret_bytes)
{
	size_t n = strlen(ending);

	for (uint32_t i = 0; i < o->n_export; i++) {
		const struct export *e = &o->export[i];
		size_t length = strlen(e->name);

		if (!e->code && length > n && strcmp(e->name + length - n, ending) == 0) {
			*ret_bytes = e->bytes;
			return (const void *)(uintptr_t)e->address;
		}
	}
	return NULL;
}
