/* lower/cpu/emit_loop.c -- the tree's control: sequences, loops, parallel loops.
 *
 * A loop is a header (induction variable, carried values, and the code that was hoisted
 * to this loop), then its body, tested at the bottom: no loop of a loop tree is empty.  A
 * parallel loop's body becomes a function of its own that gets all it needs through a
 * closure.
 */
#include "loopstate/nest/ring.h"
#include "lower/cpu/emit_amx.h"

static void emit_children(struct emit *e, const struct hn_node *node)
{
	for (uint32_t i = 0; i < node->n_child; i++) {
		hn_emit_node(e, node->child[i]);
	}
}

/* The body of a loop whose variable is known. */
static void loop_body(struct emit *e, const struct hn_node *node)
{
	hn_emit_locals(e, node->loop, /* enter= */ true);
	emit_children(e, node);
	hn_emit_locals(e, node->loop, /* enter= */ false);
}

static void serial(struct emit *e, const struct hn_node *node)
{
	struct emit_var *v = &e->var[node->loop];
	LLVMValueRef live = hn_emit_live(e, node, NULL, 0);
	LLVMBasicBlockRef past = hn_emit_when(e, hn_emit_more_than(e, live, 0));
	struct emit_loop loop;

	if (node->extent == 1) {
		*v = (struct emit_var){ 0 };
		e->epoch++;
		loop_body(e, node);
		hn_emit_end_when(e, past);
		return;
	}
	hn_emit_loop_begin(e, hn_emit_const(e, 0),
			   live ? live : hn_emit_const(e, node->extent), 0, NULL, &loop);
	*v = (struct emit_var){
		.base = loop.iv, .mul = 1, .hi = node->extent - 1, .depth = e->fn->depth
	};
	hn_emit_prefetch_below(e, node);
	loop_body(e, node);
	hn_emit_loop_end(e, &loop, NULL);
	*v = (struct emit_var){ 0 };
	hn_emit_end_when(e, past);
}

/* A loop some of whose children are ahead of others: in each turn those run whose iteration there
 * is, in a branch.  What is computed of a loop variable before the branch is arithmetic alone. */
static void pipelined(struct emit *e, const struct hn_node *node)
{
	struct emit_var *v = &e->var[node->loop];
	int64_t most = hn_ring_ahead(node), n = node->extent;
	struct emit_loop loop;

	hn_emit_loop_begin(e, hn_emit_const(e, 0), hn_emit_const(e, n + most), 0, NULL, &loop);
	hn_emit_locals(e, node->loop, /* enter= */ true);
	for (uint32_t i = 0; i < node->n_child; i++) {
		int64_t first = most - node->child[i]->ahead; /* turn of iteration 0 */
		LLVMValueRef past =
			LLVMBuildNSWSub(e->b, loop.iv, hn_emit_const(e, first), "");
		LLVMBasicBlockRef join = hn_emit_when(
			e, LLVMBuildICmp(e->b, LLVMIntULT, past, hn_emit_const(e, n), ""));

		*v = (struct emit_var){ .base = loop.iv,
					.mul = 1,
					.add = -first,
					.lo = first,
					.hi = first + n - 1,
					.depth = e->fn->depth };
		e->epoch++;
		if (i + 1 == node->n_child) {
			hn_emit_prefetch_below(e, node);
		}
		hn_emit_node(e, node->child[i]);
		hn_emit_end_when(e, join);
	}
	hn_emit_locals(e, node->loop, /* enter= */ false);
	hn_emit_loop_end(e, &loop, NULL);
	*v = (struct emit_var){ 0 };
}

/* What the body of a parallel loop must be given: every address and loop variable in use.
 */
struct capture {
	uint32_t n;
	LLVMValueRef *value;  /* outside; then, in the body, the parameters */
	LLVMValueRef **place; /* where the value is kept */
};

static void capture_add(struct capture *c, LLVMValueRef *place)
{
	if (*place) {
		c->place[c->n] = place;
		c->value[c->n++] = *place;
	}
}

static struct capture capture_all(struct emit *e)
{
	uint32_t n = e->t->n_loop + 1 + hn_emit_n_size(e);
	struct capture c = { 0 };

	for (uint32_t i = 0; i < e->t->dag->n_op; i++) {
		n += e->t->dag->op[i]->n_out;
	}
	c.value = HN_NEW_ARRAY(e->a, LLVMValueRef, n);
	c.place = HN_NEW_ARRAY(e->a, LLVMValueRef *, n);
	for (uint32_t i = 0; i < e->t->dag->n_op; i++) {
		for (uint32_t k = 0; e->buffer[i].base && k < e->t->dag->op[i]->n_out;
		     k++) {
			capture_add(&c, &e->buffer[i].base[k]);
		}
	}
	for (uint32_t i = 0; i < e->t->n_loop; i++) {
		capture_add(&c, &e->var[i].base);
	}
	capture_add(&c, &e->workers);
	for (uint32_t i = 0; i < hn_emit_n_size(e); i++) {
		capture_add(&c, &e->size[i]);
	}
	return c;
}

/* Loads the closure, calls the body function (whose pointers may then be noalias). */
static LLVMValueRef make_trampoline(struct emit *e, LLVMTypeRef closure,
				    LLVMValueRef inner, uint32_t n_value)
{
	LLVMTypeRef param[4] = { e->ptr, e->i64, e->i64, e->i32 };
	LLVMValueRef fn = LLVMAddFunction(e->mod, "hone.enter",
					  LLVMFunctionType(e->void_, param, 4, 0));
	LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(e->ctx, fn, "entry");
	LLVMBasicBlockRef run = LLVMAppendBasicBlockInContext(e->ctx, fn, "run");
	LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(e->ctx, fn, "done");
	LLVMValueRef *arg = HN_NEW_ARRAY(e->a, LLVMValueRef, n_value + 3);

	LLVMSetLinkage(fn, LLVMInternalLinkage);
	LLVMPositionBuilderAtEnd(e->b, entry);
	LLVMBuildCondBr(e->b,
			LLVMBuildICmp(e->b, LLVMIntSLT, LLVMGetParam(fn, 1),
				      LLVMGetParam(fn, 2), ""),
			run, done);
	LLVMPositionBuilderAtEnd(e->b, run);
	for (uint32_t i = 0; i < n_value; i++) {
		LLVMValueRef p =
			LLVMBuildStructGEP2(e->b, closure, LLVMGetParam(fn, 0), i, "");

		arg[i] =
			LLVMBuildLoad2(e->b, LLVMStructGetTypeAtIndex(closure, i), p, "");
	}
	for (uint32_t i = 0; i < 3; i++) {
		arg[n_value + i] = LLVMGetParam(fn, i + 1);
	}
	LLVMBuildCall2(e->b, LLVMGlobalGetValueType(inner), inner, arg, n_value + 3, "");
	LLVMBuildBr(e->b, done);
	LLVMPositionBuilderAtEnd(e->b, done);
	LLVMBuildRetVoid(e->b);
	return fn;
}

/* inner(values.., begin, end, worker): the loop itself, over a part of the range. */
static LLVMValueRef make_inner(struct emit *e, const struct hn_node *node,
			       const struct capture *c)
{
	LLVMTypeRef *type = HN_NEW_ARRAY(e->a, LLVMTypeRef, c->n + 3);
	struct emit_fn fn = { 0 }, *outer = e->fn;
	struct emit_loop loop;

	for (uint32_t i = 0; i < c->n; i++) {
		type[i] = LLVMTypeOf(c->value[i]);
	}
	type[c->n] = type[c->n + 1] = e->i64;
	type[c->n + 2] = e->i32;
	LLVMValueRef inner = LLVMAddFunction(
		e->mod, "hone.body", LLVMFunctionType(e->void_, type, c->n + 3, 0));

	LLVMSetLinkage(inner, LLVMInternalLinkage);
	hn_emit_fn_begin(e, &fn, inner);
	for (uint32_t i = 0; i < c->n; i++) {
		*c->place[i] = LLVMGetParam(inner, i);
		if (type[i] == e->ptr) {
			hn_emit_param_attrs(e, inner, i);
		}
	}
	fn.worker = LLVMGetParam(inner, c->n + 2);
	hn_emit_loop_begin(e, LLVMGetParam(inner, c->n), LLVMGetParam(inner, c->n + 1), 0,
			   NULL, &loop);
	e->var[node->loop] = (struct emit_var){
		.base = loop.iv, .mul = 1, .hi = node->extent - 1, .depth = fn.depth
	};
	e->in_parallel = true;
	loop_body(e, node);
	e->in_parallel = false;
	hn_emit_loop_end(e, &loop, NULL);
	e->var[node->loop] = (struct emit_var){ 0 };
	hn_emit_amx_end(e);
	hn_emit_past_fence(e);
	LLVMBuildRetVoid(e->b);
	e->fn = outer;
	return inner;
}

/* env && env->parallel_for ? env->parallel_for(env->ctx, fn, closure, n) : fn(closure, 0,
 * n, 0) */
static void fork_join(struct emit *e, LLVMValueRef fn, LLVMValueRef closure,
		      LLVMValueRef n)
{
	LLVMTypeRef param[4] = { e->ptr, e->ptr, e->ptr, e->i64 };
	LLVMTypeRef type = LLVMFunctionType(e->void_, param, 4, 0);
	LLVMBasicBlockRef ask = hn_emit_block(e, "ask"), many = hn_emit_block(e, "many");
	LLVMBasicBlockRef one = hn_emit_block(e, "one"),
			  joined = hn_emit_block(e, "joined");
	LLVMValueRef env = e->fn->env, null = LLVMConstNull(e->ptr);
	LLVMValueRef at = hn_emit_const(e, 8);

	LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, env, null, ""), ask, one);
	LLVMPositionBuilderAtEnd(e->b, ask);
	LLVMValueRef pf = LLVMBuildLoad2(
		e->b, e->ptr, LLVMBuildInBoundsGEP2(e->b, e->i8, env, &at, 1, ""), "");

	LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, pf, null, ""), many, one);
	LLVMPositionBuilderAtEnd(e->b, many);
	at = hn_emit_const(e, 16);
	LLVMValueRef ctx = LLVMBuildLoad2(
		e->b, e->ptr, LLVMBuildInBoundsGEP2(e->b, e->i8, env, &at, 1, ""), "");
	LLVMValueRef arg[4] = { ctx, fn, closure, n };

	LLVMBuildCall2(e->b, type, pf, arg, 4, "");
	LLVMBuildBr(e->b, joined);
	LLVMPositionBuilderAtEnd(e->b, one);
	LLVMValueRef alone[4] = { closure, hn_emit_const(e, 0), n,
				  LLVMConstInt(e->i32, 0, 0) };

	LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, alone, 4, "");
	LLVMBuildBr(e->b, joined);
	LLVMPositionBuilderAtEnd(e->b, joined);
}

static void parallel(struct emit *e, const struct hn_node *node)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
	struct capture c = capture_all(e);
	LLVMTypeRef *type = HN_NEW_ARRAY(e->a, LLVMTypeRef, c.n + 1);
	int32_t *depth = HN_NEW_ARRAY(e->a, int32_t, e->t->n_loop);

	for (uint32_t i = 0; i < c.n; i++) {
		type[i] = LLVMTypeOf(c.value[i]);
	}
	for (uint32_t i = 0; i < e->t->n_loop; i++) {
		depth[i] = e->var[i].depth;
		e->var[i].depth = 0;
	}
	LLVMTypeRef closure = LLVMStructTypeInContext(e->ctx, type, c.n, 0);
	LLVMValueRef inner = make_inner(e, node, &c);
	LLVMValueRef fn = make_trampoline(e, closure, inner, c.n);

	for (uint32_t i = 0; i < c.n; i++) {
		*c.place[i] = c.value[i];
	}
	for (uint32_t i = 0; i < e->t->n_loop; i++) {
		e->var[i].depth = depth[i];
	}
	LLVMPositionBuilderAtEnd(e->b, here);
	e->epoch++;
	LLVMValueRef space = hn_emit_alloca(e, 8 * (uint64_t)(c.n + 1), 16);

	for (uint32_t i = 0; i < c.n; i++) {
		LLVMBuildStore(e->b, c.value[i],
			       LLVMBuildStructGEP2(e->b, closure, space, i, ""));
	}
	LLVMValueRef live = hn_emit_live(e, node, NULL, 0);
	LLVMBasicBlockRef past = hn_emit_when(e, hn_emit_more_than(e, live, 0));

	fork_join(e, fn, space, live ? live : hn_emit_const(e, node->extent));
	hn_emit_end_when(e, past);
}

void hn_emit_node(struct emit *e, const struct hn_node *node)
{
	if (e->rc) {
		return;
	}
	if (node->kind == HN_NODE_SEQ) {
		emit_children(e, node);
		return;
	}
	if (node->kind == HN_NODE_LOOP && node->ann == HN_ANN_PARALLEL &&
	    !e->in_parallel && !e->opt->scalar && node->extent > 1) {
		if (node->init) {
			hn_emit_node(e, node->init);
		}
		parallel(e, node);
		return;
	}
	if (e->opt->scalar ? node->kind == HN_NODE_STMT
			   : hn_nest_begins(node, e->in_parallel)) {
		enum emit_amx_place place =
			e->opt->scalar ? EMIT_AMX_NOWHERE : hn_emit_amx(e, node);

		if (place == EMIT_AMX_NOWHERE) {
			hn_emit_nest(e, node);
		}
		if (place != EMIT_AMX_FURTHER_IN) {
			return;
		}
	}
	if (node->init) {
		hn_emit_node(e, node->init);
	}
	if (node->kind == HN_NODE_LOOP && hn_ring_ahead(node) > 0) {
		pipelined(e, node);
	} else {
		serial(e, node);
	}
}
