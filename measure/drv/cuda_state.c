/* cuda_state.c -- clocks, power and temperature of a device, by NVIDIA's management library where
 * that is installed: read for the records, never set. */
#include <stdio.h>
#include <stdlib.h>

#include "measure/drv/cuda_int.h"

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2, NVML_TEMPERATURE_GPU = 0 };

struct cuda_state {
	struct nvml_api api;
	cuda_id device;
};

struct cuda_state *cuda_state_open(struct cuda_device *d)
{
	struct cuda_state *s = calloc(1, sizeof *s);
	struct hn_err err = {0};
	char bus[64] = "";

	if (s == NULL || nvml_api_open(&s->api, &err) != 0 || s->api.Init() != 0 ||
	    d->api.DeviceGetPCIBusId(bus, sizeof bus - 1, d->device) != 0 ||
	    s->api.DeviceGetHandleByPciBusId(bus, &s->device) != 0) {
		free(s);
		return NULL;
	}
	return s;
}

void cuda_state_print(struct cuda_state *s, char *text, size_t n)
{
	unsigned int sm = 0, memory = 0, milliwatts = 0, celsius = 0;

	text[0] = '\0';
	if (s != NULL && s->api.DeviceGetClockInfo(s->device, NVML_CLOCK_SM, &sm) == 0 &&
	    s->api.DeviceGetClockInfo(s->device, NVML_CLOCK_MEMORY, &memory) == 0 &&
	    s->api.DeviceGetPowerUsage(s->device, &milliwatts) == 0 &&
	    s->api.DeviceGetTemperature(s->device, NVML_TEMPERATURE_GPU, &celsius) == 0) {
		snprintf(text, n, "%u MHz, memory %u MHz, %u W, %u C", sm, memory,
			 milliwatts / 1000, celsius);
	}
}
