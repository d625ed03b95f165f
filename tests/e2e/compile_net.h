/* compile_net.h -- the network of compile.sh: what compile_make.c writes as a model file and
 * compile_run.c computes again by plain loops.
 *
 *   x[1,3,9,9] -> conv 3x3, padded, 8 channels, bias -> relu -> maximum of 3x3 windows, stride 2
 *     -> flatten -> product with [128, 10], bias -> softmax -> y[1,10]
 */
#ifndef HN_TESTS_COMPILE_NET_H
#define HN_TESTS_COMPILE_NET_H

enum { IN = 9, CI = 3, CO = 8, POOLED = 4, FLAT = CO * POOLED * POOLED, CLASSES = 10 };

enum { CONV_W = CO * CI * 9, CONV_B = CO, DENSE_W = FLAT * CLASSES, DENSE_B = CLASSES };

/* Element i of weight `which`. */
static float weight(int which, int i)
{
	return (float)((i * 37 + which * 11) % 19 - 9) / 16;
}

#endif
