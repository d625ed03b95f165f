/* costmodel/shipped.c -- the trained model that hone comes with: costmodel/shipped/x86-64.model, made
 * by `hone-bench model --train` (docs/model.md) and put into the program as it is.
 */
#include <string.h>

#include "costmodel/model.h"

__asm__(".pushsection .rodata\n"
	"hn_model_shipped_text:\n"
	".incbin \"" HN_SHIPPED_MODEL "\"\n"
	".byte 0\n"
	".popsection\n");
extern const char hn_model_shipped_text[];

const char *hn_model_shipped(const char *name, const struct hn_target *target)
{
	bool fits = strcmp(name, "learned") == 0 && strncmp(target->isa, "x86-64", 6) == 0;

	return fits && *hn_model_shipped_text ? hn_model_shipped_text : NULL;
}
