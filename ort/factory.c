/* ort/factory.c -- what the runtime looks for in the library: a factory of providers, for CPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ort/provider.h"

struct factory {
	struct ort_factory is;
	const void *api;
	char runtime[32];
};

#define EXPORT __attribute__((visibility("default")))

static const char *name_of(const struct ort_factory *self)
{
	(void)self;
	return PROVIDER_NAME;
}

static const char *vendor_of(const struct ort_factory *self)
{
	(void)self;
	return "hone";
}

static uint32_t vendor_id(const struct ort_factory *self)
{
	(void)self;
	return 0;
}

static const char *version_of(const struct ort_factory *self)
{
	(void)self;
	return HONE_VERSION;
}

static const char *ep_name(const struct ort_ep *self)
{
	(void)self;
	return PROVIDER_NAME;
}

static bool no_streams(const struct ort_factory *self)
{
	(void)self;
	return false;
}

static ort_status *no_allocator(struct ort_factory *self, const void *memory, const void *options,
				void **ret)
{
	(void)self, (void)memory, (void)options;
	*ret = NULL;
	return NULL;
}

static void keep_allocator(struct ort_factory *self, void *allocator)
{
	(void)self, (void)allocator;
}

static ort_status *no_transfer(struct ort_factory *self, void **ret)
{
	(void)self;
	*ret = NULL;
	return NULL;
}

static ort_status *get_devices(struct ort_factory *self, const void *const *devices, size_t n,
			       void **made, size_t most, size_t *n_made)
{
	const struct factory *f = (const struct factory *)self;
	const void *ep = ort_call(f->api, GetEpApi)();
	ort_status *status = NULL;

	*n_made = 0;
	for (size_t i = 0; i < n && *n_made < most && status == NULL; i++) {
		if (ort_call(f->api, HardwareDevice_Type)(devices[i]) == ORT_DEVICE_CPU) {
			status = ort_call(ep, CreateEpDevice)(self, devices[i], NULL, NULL,
							      &made[*n_made]);
			*n_made += status == NULL;
		}
	}
	return status;
}

/* -- options ----------------------------------------------------------------------------------- */

/* The runtime puts "ep.", the provider's name in small letters and "." before an option's name. */
static ort_status *read_option(const struct factory *f, const void *options, const char *name,
			       char *value, size_t most)
{
	char key[100] = "ep." PROVIDER_NAME ".";
	size_t bytes = most;
	int has = 0;

	for (char *p = key; *p != '\0'; p++) {
		*p = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
	}
	strncat(key, name, sizeof(key) - strlen(key) - 1);
	*value = '\0';
	ort_status *status = ort_call(f->api, HasSessionConfigEntry)(options, key, &has);

	return status != NULL || !has
		       ? status
		       : ort_call(f->api, GetSessionConfigEntry)(options, key, value, &bytes);
}

static ort_status *read_options(struct factory *f, const void *options, struct provider *p)
{
	char text[32];
	ort_status *status = read_option(f, options, "library", p->folder, sizeof(p->folder));

	status = status ? status : read_option(f, options, "regions", p->only, sizeof(p->only));
	status = status ? status : read_option(f, options, "threads", text, sizeof(text));
	if (status == NULL) {
		p->threads = (int32_t)strtol(text, NULL, 10);
		status = read_option(f, options, "claim", text, sizeof(text));
	}
	if (status != NULL) {
		return status;
	}
	p->claim = strcmp(text, "always") == 0	? CLAIM_ALWAYS
		   : strcmp(text, "never") == 0 ? CLAIM_NEVER
						: CLAIM_FASTER;
	return *text == '\0' || p->claim != CLAIM_FASTER || strcmp(text, "faster") == 0
		       ? NULL
		       : ort_call(f->api, CreateStatus)(ORT_CODE_INVALID,
							"hone: option claim is none of faster, "
							"always, never");
}

/* -- providers --------------------------------------------------------------------------------- */

static ort_status *create_ep(struct ort_factory *self, const void *const *devices,
			     const void *const *metadata, size_t n, const void *options,
			     const void *logger, struct ort_ep **ret)
{
	struct factory *f = (struct factory *)self;
	struct provider *p = calloc(1, sizeof(*p));

	(void)devices, (void)metadata, (void)n;
	if (p == NULL) {
		return ort_call(f->api, CreateStatus)(ORT_CODE_FAIL, "hone: no memory");
	}
	p->ep = (struct ort_ep){ .version = ORT_VERSION_NEEDED,
				 .get_name = ep_name,
				 .get_capability = provider_capability,
				 .compile = provider_compile,
				 .release_computes = provider_release };
	p->api = f->api;
	p->ep_api = ort_call(f->api, GetEpApi)();
	p->logger = logger;
	memcpy(p->runtime, f->runtime, sizeof(p->runtime));
	ort_status *status = read_options(f, options, p);

	if (status != NULL) {
		free(p);
		return status;
	}
	*ret = &p->ep;
	return NULL;
}

static void release_ep(struct ort_factory *self, struct ort_ep *ep)
{
	struct provider *p = (struct provider *)ep;

	(void)self;
	if (p != NULL) {
		provider_drop_all(p);
		hone_pool_destroy(p->pool);
	}
	free(p);
}

EXPORT ort_status *CreateEpFactories(const char *registered, const struct ort_base *base,
				     const void *logger, struct ort_factory **factories, size_t most,
				     size_t *n)
{
	const void *api = base->get_api(ORT_VERSION_NEEDED);
	struct factory *f = api != NULL && most > 0 ? calloc(1, sizeof(*f)) : NULL;

	(void)registered, (void)logger;
	*n = 0;
	if (f == NULL) { /* an older runtime has said so on standard error */
		return api == NULL ? NULL
				   : ort_call(api, CreateStatus)(ORT_CODE_FAIL, "hone: no memory");
	}
	f->is = (struct ort_factory){ .version = ORT_VERSION_NEEDED,
				      .get_name = name_of,
				      .get_vendor = vendor_of,
				      .get_devices = get_devices,
				      .create_ep = create_ep,
				      .release_ep = release_ep,
				      .get_vendor_id = vendor_id,
				      .get_version = version_of,
				      .create_allocator = no_allocator,
				      .release_allocator = keep_allocator,
				      .create_transfer = no_transfer,
				      .is_stream_aware = no_streams };
	f->api = api;
	snprintf(f->runtime, sizeof(f->runtime), "%s", base->get_version());
	factories[0] = &f->is;
	*n = 1;
	return NULL;
}

EXPORT ort_status *ReleaseEpFactory(struct ort_factory *factory)
{
	free(factory);
	return NULL;
}
