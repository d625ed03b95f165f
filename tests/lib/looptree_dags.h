/* tests/lib/looptree_dags.h -- small dags of the forms hone is for: odd sizes, pads,
 * strides, dilation, transposed convolution, pooling, softmax, broadcasts, reshapes, rank
 * 0. compute-dag/1 with ' for ". */
#ifndef HN_TESTS_LOOPTREE_DAGS_H
#define HN_TESTS_LOOPTREE_DAGS_H

#define V(x) "['var','" x "']"
#define I(n) "['int'," #n ",'int32']"
#define F(v) "['float'," #v ",'float32']"
#define B(o, p, q) "['" o "'," p "," q "]"
#define LD1(t, p) "['load','" t "'," p "]"
#define LD2(t, p, q) "['load','" t "'," p "," q "]"
#define LD3(t, p, q, r) "['load','" t "'," p "," q "," r "]"
#define LD4(t, p, q, r, s) "['load','" t "'," p "," q "," r "," s "]"
#define IFE(c, p, q) "['if'," c "," p "," q "]"
#define BETWEEN(v, lo, hi) B("and", B("ge", v, I(lo)), B("lt", v, I(hi)))
#define CALL1(f, p) "['call','" f "','float32'," p "]"
#define IN(name, shape)                                                                  \
	"{'kind':'placeholder','id':'" name "','name':'" name "','shape':" shape         \
	",'dtype':'float32'}"
#define OP(name, shape, axes, body)                                                      \
	"{'kind':'compute','id':'" name "','name':'" name "','tag':'','axes':" axes      \
	",'reduce_axes':[],'shape':" shape ",'dtype':['float32'],'body':[" body "]}"
#define RED(name, shape, axes, raxes, op, identity, source)                              \
	"{'kind':'compute','id':'" name "','name':'" name "','tag':'','axes':" axes      \
	",'reduce_axes':" raxes ",'shape':" shape                                        \
	",'dtype':['float32'],'body':[{'reduce':{'lhs':['x'],'rhs':['y'],'result':[" B(  \
		op, V("x"),                                                              \
		V("y")) "],'identity':[" identity "]},'source':[" source                 \
			"],'condition':['int',1,'bool'],'init':[],'value_index':0}]}"
#define SUM(name, shape, axes, raxes, source)                                            \
	RED(name, shape, axes, raxes, "add", F(0.0), source)
#define MAXR(name, shape, axes, raxes, source)                                           \
	RED(name, shape, axes, raxes, "max", F(-1e30), source)
#define DAG(ops, args)                                                                   \
	"{'format':'compute-dag/1','ops':[" ops "],'inputs_outputs':" args "}"

/* Two values carried at once. */
#define BEST(x, y) "['select'," B("ge", V("xv"), V("yv")) "," V(x) "," V(y) "]"
#define ARGMAX(k)                                                                                                             \
	"{'reduce':{'lhs':['xi','xv'],'rhs':['yi','yv'],'result':[" BEST("xi", "yi") "," BEST("xv", "yv") "],'identity':[" I( \
		-1) "," F(-1e30) "]},'source':[" V("k") "," LD2("A", V("i"),                                                  \
								V("k")) "],'condition':"                                      \
									"['int',1,'"                                          \
									"bool'],'init':"                                      \
									"[],"                                                 \
									"'value_index'"                                       \
									":" #k "}"

struct dag_form {
	const char *name, *json;
};

static const struct dag_form dag_forms[] = {
	{ "matmul",
	  DAG(IN("A", "[7,3]") "," IN("B", "[3,5]") "," SUM(
		      "C", "[7,5]", "[['i',0,7],['j',0,5]]", "[['k',0,3]]",
		      B("mul", LD2("A", V("i"), V("k")), LD2("B", V("k"), V("j")))),
	      "['A','B','C']") },
	{ "matmul-bias-relu",
	  DAG(IN("A", "[6,4]") "," IN("B", "[4,8]") "," IN("D", "[8]") "," SUM(
		      "C", "[6,8]", "[['i',0,6],['j',0,8]]", "[['k',0,4]]",
		      B("mul", LD2("A", V("i"), V("k")),
			LD2("B", V("k"),
			    V("j")))) "," OP("bias", "[6,8]", "[['i',0,6],['j',0,8]]",
					     B("add", LD2("C", V("i"), V("j")),
					       LD1("D",
						   V("j")))) "," OP("relu", "[6,8]",
								    "[['i',0,6],['j',"
								    "0,8]]",
								    B("max",
								      LD2("bias", V("i"),
									  V("j")),
								      F(0.0))),
	      "['A','B','D','relu']") },
	{ "conv2d-s2-dil2",
	  DAG(IN("X", "[1,7,6,3]") "," IN("W", "[3,2,3,4]") "," OP(
		      "pad", "[1,11,8,3]", "[['n',0,1],['h',0,11],['w',0,8],['c',0,3]]",
		      IFE(B("and", BETWEEN(V("h"), 2, 9), BETWEEN(V("w"), 1, 7)),
			  LD4("X", V("n"), B("sub", V("h"), I(2)), B("sub", V("w"), I(1)),
			      V("c")),
			  F(0.0))) "," SUM("conv", "[1,4,3,4]",
					   "[['n',0,1],['h',0,4],['w',0,3],['f',0,4]]",
					   "[['rh',0,3],['rw',0,2],['rc',0,3]]",
					   B("mul",
					     LD4("pad", V("n"),
						 B("add", B("mul", V("h"), I(2)),
						   B("mul", V("rh"), I(2))),
						 B("add", B("mul", V("w"), I(2)),
						   B("mul", V("rw"), I(2))),
						 V("rc")),
					     LD4("W", V("rh"), V("rw"), V("rc"),
						 V("f")))) "," OP("relu", "[1,4,3,4]",
								  "[['n',0,1],['h',0,4],["
								  "'"
								  "w',0,3],['f',0,4]]",
								  B("max",
								    LD4("conv", V("n"),
									V("h"), V("w"),
									V("f")),
								    F(0.0))),
	      "['X','W','relu']") },
	{ "max-pool",
	  DAG(IN("X", "[9,3]") "," OP(
		      "pad", "[11,3]", "[['h',0,11],['c',0,3]]",
		      IFE(BETWEEN(V("h"), 1, 10),
			  LD2("X", B("sub", V("h"), I(1)), V("c")),
			  F(-1e30))) "," MAXR("pool", "[5,3]", "[['h',0,5],['c',0,3]]",
					      "[['r',0,3]]",
					      LD2("pad",
						  B("add", B("mul", V("h"), I(2)),
						    V("r")),
						  V("c"))),
	      "['X','pool']") },
	{ "softmax",
	  DAG(IN("A", "[5,7]") "," MAXR("m", "[5]", "[['i',0,5]]", "[['k',0,7]]", LD2("A", V("i"), V("k"))) "," OP(
		      "e", "[5,7]", "[['i',0,5],['j',0,7]]",
		      CALL1("exp",
			    B("sub", LD2("A", V("i"), V("j")),
			      LD1("m",
				  V("i"))))) "," SUM("s", "[5]", "[['i',0,5]]",
						     "[['k',0,7]]",
						     LD2("e", V("i"),
							 V("k"))) "," OP("out", "[5,7]",
									 "[['i',0,5],['j'"
									 ","
									 "0,7]]",
									 B("div",
									   LD2("e",
									       V("i"),
									       V("j")),
									   LD1("s",
									       V("i")))),
	      "['A','out']") },
	{ "depthwise",
	  DAG(IN("X", "[5,5,3]") "," IN("W", "[3,3,3]") "," OP(
		      "pad", "[7,7,3]", "[['h',0,7],['w',0,7],['c',0,3]]",
		      IFE(B("and", BETWEEN(V("h"), 1, 6), BETWEEN(V("w"), 1, 6)),
			  LD3("X", B("sub", V("h"), I(1)), B("sub", V("w"), I(1)),
			      V("c")),
			  F(0.0))) "," SUM("dw", "[5,5,3]",
					   "[['h',0,5],['w',0,5],['c',0,3]]",
					   "[['rh',0,3],['rw',0,3]]",
					   B("mul",
					     LD3("pad", B("add", V("h"), V("rh")),
						 B("add", V("w"), V("rw")), V("c")),
					     LD3("W", V("rh"), V("rw"), V("c")))),
	      "['X','W','dw']") },
	{ "conv-transposed",
	  DAG(IN("X", "[4,3]") "," IN("W", "[4,3]") "," OP(
		      "dil", "[11,3]", "[['h',0,11],['c',0,3]]",
		      IFE(B("and", BETWEEN(V("h"), 2, 9),
			    B("eq", B("floormod", B("sub", V("h"), I(2)), I(2)), I(0))),
			  LD2("X", B("floordiv", B("sub", V("h"), I(2)), I(2)), V("c")),
			  F(0.0))) "," SUM("t", "[8]", "[['h',0,8]]",
					   "[['r',0,4],['c',0,3]]",
					   B("mul",
					     LD2("dil", B("add", V("h"), V("r")), V("c")),
					     LD2("W", B("sub", I(3), V("r")), V("c")))),
	      "['X','W','t']") },
	{ "norm", DAG(IN("A", "[3,5,4]") "," SUM(
			      "q", "[3]", "[['b',0,3]]", "[['i',0,5],['j',0,4]]",
			      B("mul", LD3("A", V("b"), V("i"), V("j")),
				LD3("A", V("b"), V("i"),
				    V("j")))) "," OP("r", "[3]", "[['b',0,3]]",
						     CALL1("sqrt", LD1("q", V("b")))),
		      "['A','r']") },
	{ "rank0", DAG(IN("A", "[13]") "," SUM(
			       "s", "[]", "[]", "[['k',0,13]]",
			       LD1("A", V("k"))) "," OP("t", "[]", "[]",
							B("mul", "['load','s']", F(2.0))),
		       "['A','t']") },
	{ "reshape-transpose",
	  DAG(IN("A", "[6,10]") "," OP(
		      "p", "[6,10]", "[['i',0,6],['j',0,10]]",
		      B("add", LD2("A", V("i"), V("j")),
			F(1.0))) "," OP("r", "[15,4]", "[['u',0,15],['v',0,4]]",
					LD2("p",
					    B("floordiv",
					      B("add", B("mul", V("u"), I(4)), V("v")),
					      I(10)),
					    B("floormod",
					      B("add", B("mul", V("u"), I(4)), V("v")),
					      I(10)))) "," OP("t", "[4,15]",
							      "[['a',0,4],['b',0,15]]",
							      B("sub",
								LD2("r", V("b"), V("a")),
								F(0.5))),
	      "['A','t']") },
	{ "stencils",
	  DAG(IN("A", "[17]") "," OP("p", "[17]", "[['i',0,17]]", B("mul", LD1("A", V("i")), F(3.0))) "," OP(
		      "q", "[15]", "[['i',0,15]]",
		      B("sub", LD1("p", V("i")),
			LD1("p",
			    B("add", V("i"),
			      I(2))))) "," OP("r", "[13]", "[['i',0,13]]",
					      B("add", LD1("q", B("sub", I(12), V("i"))),
						B("mul", LD1("q", B("add", V("i"), I(1))),
						  LD1("p",
						      B("add", V("i"),
							I(4)))))) "," OP("o", "[13]",
									 "[['i',0,13]]",
									 IFE(B("lt",
									       V("i"),
									       I(12)),
									     LD1("r",
										 B("min",
										   B("ad"
										     "d",
										     V("i"),
										     I(1)),
										   I(9))),
									     LD1("r",
										 I(0)))),
	      "['A','o']") },
	{ "concat",
	  DAG(IN("A", "[5]") "," OP(
		      "p", "[5]", "[['i',0,5]]",
		      B("mul", LD1("A", V("i")),
			F(3.0))) "," OP("q", "[7]", "[['i',0,7]]",
					IFE(BETWEEN(V("i"), 1, 6),
					    LD1("A", B("sub", V("i"), I(1))),
					    F(7.0))) "," OP("o", "[12]", "[['i',0,12]]",
							    IFE(B("lt", V("i"), I(5)),
								LD1("p", V("i")),
								LD1("q", B("sub", V("i"),
									   I(5))))),
	      "['A','o']") },
	{ "two-matmuls",
	  DAG(IN("A", "[4,5]") "," IN("B", "[5,6]") "," IN("D", "[6,3]") "," SUM(
		      "C", "[4,6]", "[['i',0,4],['j',0,6]]", "[['k',0,5]]",
		      B("mul", LD2("A", V("i"), V("k")),
			LD2("B", V("k"),
			    V("j")))) "," SUM("E", "[4,3]", "[['i',0,4],['j',0,3]]",
					      "[['k',0,6]]",
					      B("mul", LD2("C", V("i"), V("k")),
						LD2("D", V("k"), V("j")))),
	      "['A','B','D','E']") },
	{ "let-square",
	  DAG(IN("A", "[11]") "," OP(
		      "p", "[11]", "[['i',0,11]]",
		      "['let','t'," B("add", LD1("A", V("i")), F(1.0)) "," B(
			      "mul", V("t"),
			      V("t")) "]") "," OP("o", "[10]", "[['i',0,10]]",
						  "['let','t'," B(
							  "sub", LD1("p", V("i")),
							  F(1.0)) "," B("add", V("t"),
									LD1("p",
									    B("add",
									      V("i"),
									      I(1)))) "]"),
	      "['A','o']") },
	{ "let-index",
	  DAG(IN("A", "[13]") "," OP(
		      "p", "[12]", "[['i',0,12]]",
		      "['let','t'," B("add", V("i"), I(1)) "," B(
			      "sub", LD1("A", V("t")),
			      LD1("A",
				  V("i"))) "]") "," OP("o", "[11]", "[['i',0,11]]",
						       "['let','t'," B(
							       "sub", I(11),
							       V("i")) "," LD1("p",
									       V("t")) "]"),
	      "['A','o']") },
	{ "reversed",
	  DAG(IN("A", "[19]") "," OP(
		      "p", "[19]", "[['i',0,19]]",
		      B("mul", LD1("A", V("i")),
			F(3.0))) "," OP("q", "[17]", "[['i',0,17]]",
					B("sub", LD1("p", B("add", V("i"), I(2))),
					  LD1("p", V("i")))) "," SUM("o", "[13]",
								     "[['i',0,13]]",
								     "[['k',0,5]]",
								     LD1("q",
									 B("sub",
									   B("sub", I(16),
									     V("i")),
									   V("k")))),
	      "['A','o']") },
	{ "select-index",
	  DAG(IN("A", "[19]") "," OP(
		      "p", "[19]", "[['i',0,19]]",
		      B("mul", LD1("A", V("i")),
			F(3.0))) "," OP("o", "[14]", "[['i',0,14]]",
					LD1("p",
					    "['select'," B(
						    "eq", B("floormod", V("i"), I(2)),
						    I(0)) "," V("i") "," B("add", V("i"),
									   I(5)) "]")),
	      "['A','o']") },
	{ "argmax",
	  DAG(IN("A",
		 "[4,9]") ","
			  "{'kind':'compute','id':'am','name':'am','tag':'','axes':[["
			  "'i',0,4]],"
			  "'reduce_axes':[['k',0,9]],'shape':[4],'dtype':['int32','"
			  "float32'],'body':[" ARGMAX(0) "," ARGMAX(1) "]}," OP(
				  "o", "[4]", "[['i',0,4]]",
				  B("add", LD1("am.v1", V("i")),
				    "['cast','float32'," LD1("am.v0", V("i")) "]")),
	      "['A','o']") },
	{ "window-from-2",
	  DAG(IN("A", "[15]") "," OP(
		      "p", "[15]", "[['i',0,15]]",
		      B("mul", LD1("A", V("i")),
			F(3.0))) "," SUM("o", "[10]", "[['i',0,10]]", "[['k',2,4]]",
					 LD1("p", B("add", V("i"), V("k")))),
	      "['A','o']") },
};

#endif
