/* client/place.h -- whether a folder may take a compiled network: seen before the work begins, which
 * may take minutes. */
#ifndef HN_CLIENT_PLACE_H
#define HN_CLIENT_PLACE_H

#include <stdbool.h>

#include "base/err.h"

#define HN_PLACE_FILE "model" /* the network's files are called model.h, libmodel.so, ... */
#define HN_PLACE_FORMAT "hone-network/1" /* of model.json */

/* Of a network compiled by regions, in the folder that has theirs. */
#define HN_PLACE_REGIONS "regions.json"
#define HN_PLACE_REGIONS_FORMAT "hone-regions/1"

/* DIR can be written to, or the nearest folder above it that is there; and no file of DIR has a
 * network's name that is not a network's of hone's.  force: that is not looked at. */
int hn_place_check(const char *dir, bool force, struct hn_err *err) HN_NODISCARD;

#endif
