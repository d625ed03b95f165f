/* lower/device/device_int.h -- the words of the text, for who writes it and who reads it. */
#ifndef HN_LOWER_DEVICE_DEVICE_INT_H
#define HN_LOWER_DEVICE_DEVICE_INT_H

#include "lower/device/device.h"

#define HN_DEVICE_FORMAT "device/1"

extern const char *const hn_device_infix[HN_N_EXPR]; /* NULL: written as a function */
extern const char
	*const hn_device_number[HN_DEVICE_FIRST]; /* slots of blocks and threads */
extern const char *const hn_device_how_word[HN_DEVICE_N_HOW];	  /* a blank before each word */

#endif
