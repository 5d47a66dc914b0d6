/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration that holds when none is given: a cluster on this machine, jobs as processes. */
#include "daemon/config.h"

const char fth_config_default[] =
	"# A cluster on this machine: jobs are processes, instances are records with a boot time and a price.\n"
	"cluster: here\n"
	"policy: farthing:round=1s\n"
	"catalog: |\n"
	"  farthing-catalog 1\n"
	"  type small family=general holds=cpu:2,mem:4GiB\n"
	"  type medium family=general holds=cpu:4,mem:8GiB\n"
	"  type large family=general holds=cpu:8,mem:16GiB\n"
	"  type gpu family=gpu holds=gpu:1,cpu:8,mem:32GiB\n"
	"  offer small price=0.085\n"
	"  offer medium price=0.17\n"
	"  offer large price=0.34\n"
	"  offer gpu price=1.21\n"
	"workload:\n"
	"  driver: process\n"
	"capacity:\n"
	"  driver: local\n"
	"  config:\n"
	"    boot: 1s\n"
	"limits:\n"
	"  max_instances: 40\n";
