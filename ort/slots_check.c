/* ort/slots_check.c -- the slots against the runtime's own headers (-DHONE_ORT_INCLUDE=FOLDER). */
#include <onnxruntime_c_api.h>

#include "ort/slots.h"

#define table_api OrtApi
#define table_ep OrtEpApi
#define SLOT(table, number, name, returns, arguments)                                          \
	_Static_assert(offsetof(struct table_##table, name) == (number) * sizeof(void *), #name);
#include "ort/slots.def"
#undef SLOT

#define SAME(ours, field, theirs, name)                                                        \
	_Static_assert(offsetof(struct ours, field) == offsetof(struct theirs, name), #name)
SAME(ort_ep, get_name, OrtEp, GetName);
SAME(ort_ep, get_capability, OrtEp, GetCapability);
SAME(ort_ep, compile, OrtEp, Compile);
SAME(ort_ep, release_computes, OrtEp, ReleaseNodeComputeInfos);
SAME(ort_ep, optional, OrtEp, GetPreferredDataLayout);
SAME(ort_factory, get_devices, OrtEpFactory, GetSupportedDevices);
SAME(ort_factory, create_ep, OrtEpFactory, CreateEp);
SAME(ort_factory, release_ep, OrtEpFactory, ReleaseEp);
SAME(ort_factory, get_vendor_id, OrtEpFactory, GetVendorId);
SAME(ort_factory, get_version, OrtEpFactory, GetVersion);
SAME(ort_factory, create_allocator, OrtEpFactory, CreateAllocator);
SAME(ort_factory, create_transfer, OrtEpFactory, CreateDataTransfer);
SAME(ort_factory, is_stream_aware, OrtEpFactory, IsStreamAware);
SAME(ort_factory, create_stream, OrtEpFactory, CreateSyncStreamForDevice);
SAME(ort_compute, compute, OrtNodeComputeInfo, Compute);
SAME(ort_fusion, drop_constants, OrtNodeFusionOptions, drop_constant_initializers);
