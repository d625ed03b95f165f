/* target/npu/npu_picture.c -- pipes over time as an SVG.
 *
 * Time goes to the right.  Colours tell instructions of a pipe apart, by their word; a box is
 * never narrower than what can be seen.
 */
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/name.h"
#include "target/npu/npu_insn.h"
#include "target/npu/npu_picture.h"

enum { LEFT = 70, WIDE = 1100, TOP = 46, ROW = 34, BOX = 24, TICKS = 10 };

static const char *const colours[] = { "#2b6cb0", "#2f855a", "#b7791f", "#9b2c2c", "#6b46c1",
				       "#b83280", "#2c7a7b", "#c05621", "#4a5568" };

static void escaped(struct hn_buf *b, const char *s)
{
	for (; *s != '\0'; s++) {
		switch (*s) {
		case '&':
			hn_buf_puts(b, "&amp;");
			break;
		case '<':
			hn_buf_puts(b, "&lt;");
			break;
		case '>':
			hn_buf_puts(b, "&gt;");
			break;
		case '"':
			hn_buf_puts(b, "&quot;");
			break;
		default:
			hn_buf_putc(b, *s);
		}
	}
}

/* 1, 2 or 5 times a power of ten. */
static int64_t tick(int64_t cycles)
{
	static const int64_t steps[] = { 1, 2, 5 };
	int64_t power = 1;

	while (true) {
		for (int i = 0; i < 3; i++) {
			if (cycles / (steps[i] * power) < TICKS) {
				return steps[i] * power;
			}
		}
		power *= 10;
	}
}

static void axis(struct hn_buf *svg, int64_t cycles, int rows)
{
	int64_t step = tick(cycles);

	for (int64_t t = 0; t <= cycles; t += step) {
		double x = LEFT + (double)t * WIDE / (double)cycles;

		hn_buf_printf(svg, "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" "
			      "text-anchor=\"middle\" fill=\"#555\">%" PRId64 "</text>\n",
			      x, TOP - 6, TOP + rows * ROW, x, TOP + rows * ROW + 16, t);
	}
}

static void box(const struct hn_npu_program *p, const struct hn_npu_event *e, int row, int64_t cycles,
		struct hn_buf *svg)
{
	const char *word = hn_npu_op[e->insn->op].word;
	double scale = (double)WIDE / (double)cycles, wide = (double)(e->to - e->from) * scale;
	struct hn_buf text;

	hn_buf_init(&text);
	hn_npu_print_insn(p, e->insn, &text);
	hn_buf_printf(svg, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\" "
		      "fill-opacity=\"%s\" stroke=\"#fff\" stroke-width=\"0.3\"><title>line %u: ",
		      LEFT + (double)e->from * scale, TOP + row * ROW, wide < 0.5 ? 0.5 : wide, BOX,
		      colours[hn_hash64(word, strlen(word), 0) % HN_COUNT_OF(colours)],
		      e->insn->line % 2 != 0 ? "0.85" : "1", e->insn->line);
	escaped(svg, text.s);
	hn_buf_printf(svg, " (%" PRId64 " to %" PRId64 ")</title></rect>\n", e->from, e->to);
	if (wide > 8 * (double)strlen(word)) {
		hn_buf_printf(svg, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#fff\" "
			      "pointer-events=\"none\">%s</text>\n",
			      LEFT + ((double)e->from + (double)e->to) / 2 * scale,
			      TOP + row * ROW + BOX / 2 + 4, word);
	}
	hn_buf_fini(&text);
}

void hn_npu_picture(const struct hn_npu_program *p, const struct hn_npu_options *o,
		    const struct hn_npu_result *r, struct hn_buf *svg)
{
	int64_t end = 1, busy[HN_NPU_N_PIPE] = { 0 }, done[HN_NPU_N_PIPE] = { 0 };
	int rows = HN_NPU_N_PIPE - 1;
	char name[200];

	for (uint32_t i = 0; i < r->n_event; i++) {
		const struct hn_npu_event *e = &o->event[i];
		int64_t *until = &done[e->pipe], from = e->from > *until ? e->from : *until;

		end = e->to > end ? e->to : end;
		busy[e->pipe] += e->to > from ? e->to - from : 0; /* loads overlap */
		*until = e->to > *until ? e->to : *until;
	}
	hn_shown(name, sizeof(name), p->what, strlen(p->what));
	hn_buf_printf(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" "
		      "height=\"100%%\" fill=\"#fff\"/>\n<text x=\"8\" y=\"20\">", LEFT + WIDE + 90,
		      TOP + rows * ROW + 30);
	escaped(svg, name);
	hn_buf_printf(svg, ": core %u, %" PRId64 " cycles, %u instructions</text>\n", o->event_core,
		      end, r->n_event);
	axis(svg, end, rows);
	for (int pipe = 1; pipe < HN_NPU_N_PIPE; pipe++) {
		int y = TOP + (pipe - 1) * ROW + BOX / 2 + 4;

		hn_buf_printf(svg, "<text x=\"8\" y=\"%d\">%s</text><text x=\"%d\" y=\"%d\" "
			      "fill=\"#555\">%.0f %%</text>\n", y, hn_npu_pipe_name[pipe],
			      LEFT + WIDE + 12, y, 100.0 * (double)busy[pipe] / (double)end);
	}
	for (uint32_t i = 0; i < r->n_event; i++) {
		box(p, &o->event[i], o->event[i].pipe - 1, end, svg);
	}
	hn_buf_puts(svg, "</svg>\n");
}
