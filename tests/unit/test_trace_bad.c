/* SPDX-License-Identifier: Apache-2.0 */
/* Bad input: every parser refuses it, naming file and line. */
#include "trace_common.h"

struct bad {
	enum fth_format format;
	int line;          /* where the error must point */
	const char *says;  /* what it must say */
	const char *text;
};


static void assert_refused(const struct bad *b, const char *prices)
{
	struct world *w = world_new();
	struct fth_import_options o = {.prices = prices};
	char at[32];
	int r = world_read(w, "bad.txt", b->text, strlen(b->text), b->format, fth_format_content(b->format), &o);
	snprintf(at, sizeof(at), "bad.txt:%d: ", b->line);
	if (r != -EINVAL || strncmp(w->err.text, at, strlen(at)) || !strstr(w->err.text, b->says))
		fail_msg("%s\n-> %d '%s', wanted '%s...%s'", b->text, r, w->err.text, at, b->says);
	assert_int_equal(w->err.code, -EINVAL);
	world_free(w);
}

#define WL "farthing-workload 1\nkind K any=cpu:1\n"
#define JOB "job a submit=0s tasks=1xK:1s\n"
static const struct bad workloads[] = {
	{FTH_FORMAT_HAWK_TR, 1, "no job", ""},
	{FTH_FORMAT_HAWK_TR, 1, "2 tasks are announced, and 1 duration follows", "10 2 5.5 5.2\n"},
	{FTH_FORMAT_HAWK_TR, 1, "2 tasks are announced, and 3 durations follow", "10 2 5.5 5.2 5.3 5.4\n"},
	{FTH_FORMAT_HAWK_TR, 2, "duration -4 is negative", "10 1 3 4\n11 1 3 -4\n"},
	{FTH_FORMAT_HAWK_TR, 1, "duration 'x' is not a number", "10 1 3 x\n"},
	{FTH_FORMAT_HAWK_TR, 1, "duration 'nan' is not a number", "10 1 3 nan\n"},
	{FTH_FORMAT_HAWK_TR, 1, "mean 1e300 is out of range", "10 1 1e300 4\n"},
	{FTH_FORMAT_HAWK_TR, 1, "arrival -1 is negative", "-1 1 3 4\n"},
	{FTH_FORMAT_HAWK_TR, 3, "arrives at 9 s, before", "10 1 3 4\n\n9 1 3 4\n"},
	{FTH_FORMAT_HAWK_TR, 1, "0 tasks", "10 0 3\n"},
	{FTH_FORMAT_HAWK_TR, 1, "is not a whole number", "10 1.5 3 4\n"},
	{FTH_FORMAT_HAWK_TR, 1, "99999999999 tasks", "10 99999999999 3 4\n"},
	{FTH_FORMAT_HAWK_TR, 1, "mean duration are needed", "10 1\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 1, "empty", ""},
	{FTH_FORMAT_FARTHING_WORKLOAD, 1, "does not begin", "job a\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 1, "version '2'", "farthing-workload 2\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "no job", WL},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "unknown word", WL "jab a submit=0s tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "unknown key 'colour'", WL "job a submit=0s tasks=1xK:1s colour=red\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "unknown key 'colour'", "farthing-workload 1\nkind K any=cpu:1 colour=red\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "unknown key 'colour'", "farthing-workload 1\nworkload colour=red\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "user= twice", WL "job a submit=0s user=x user=y tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "needs a unit", WL "job a submit=10 tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "not a duration", WL "job a submit=10weeks tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "needs a unit", WL "job a submit=0s tasks=1xK:1\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "negative", WL "job a submit=-1s tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "negative", WL "job a submit=0s tasks=1xK:-1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "out of range", WL "job a submit=99999999999999999999s tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "out of range", WL "job a submit=365251d tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "32 bits", WL "job a submit=0s priority=2147483648 tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "out of range", WL "job a submit=0s iters=9223372036854775808 rate=1 tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "above 0 and below 1", WL "job a submit=0s kind=service availability=1 tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "above 0 and below 1", WL "job a submit=0s kind=service availability=0 tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "number", WL "job a submit=0s kind=service availability=nan tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "is for services", WL "job a submit=0s availability=0.9 tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "without a rate", WL "job a submit=0s iters=5 tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "thousand years", WL "job a submit=0s iters=5 rate=1e-300 tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "not a number", WL "job a submit=0s iters=5 rate=nan tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "out of range", WL "job a submit=0s iters=5 rate=1e999 tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "not one of the choices", WL "job a submit=0s kind=gang tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 4, "job a twice", WL JOB JOB},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "kind K twice", WL "kind K any=cpu:2\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "no kind of this name", WL "job a submit=0s tasks=1xL:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "1 to 1000000", WL "job a submit=0s tasks=0xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "1 to 1000000", WL "job a submit=0s tasks=999999xK:1s,2xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "COUNTxKIND", WL "job a submit=0s tasks=K\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "COUNTxKIND", WL "job a submit=0s tasks=\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "as many durations", WL "job a submit=0s tasks=3xK:1s/2s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "tasks= is missing", WL "job a submit=0s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "submit= is missing", WL "job a tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "id is missing", WL "job submit=0s tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "not key=value", WL "job a b submit=0s tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "% escape", WL "job a%0 submit=0s tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "% escape", WL "job a submit=0s user=%00 tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "empty", WL "job a submit=0s user= tasks=1xK:1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "must come first", WL "workload step=1s\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 3, "cut off", WL "job a submit=0s tasks=1xK:12s"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "memory is a number and", "farthing-workload 1\nkind K any=mem:16GB\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "memory is a number and", "farthing-workload 1\nkind K any=mem:16\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "not a number", "farthing-workload 1\nkind K any=cpu:4GiB\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "not a number", "farthing-workload 1\nkind K any=cpu:0.0001\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "negative", "farthing-workload 1\nkind K any=cpu:-1\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "out of range", "farthing-workload 1\nkind K any=cpu:9223372036854775807\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "out of range", "farthing-workload 1\nkind K any=mem:99999999999999TiB\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "unknown resource", "farthing-workload 1\nkind K any=disk:1\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "a resource twice", "farthing-workload 1\nkind K any=cpu:1,cpu:1\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "no demand", "farthing-workload 1\nkind K label=x\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "can never match", "farthing-workload 1\nkind K any=cpu:1 on:p3=cpu:2\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "speed after @", "farthing-workload 1\nkind K any=cpu:1@0\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 2, "letters", "farthing-workload 1\nresource a,b\n"},
	{FTH_FORMAT_FARTHING_WORKLOAD, 7, "more than 5",
	 "farthing-workload 1\nresource a\nresource b\nresource c\nresource d\nresource e\nresource f\n"},
};

#define CAT "farthing-catalog 1\ntype t holds=cpu:1\n"
static const struct bad catalogs[] = {
	{FTH_FORMAT_FARTHING_CATALOG, 1, "empty", ""},
	{FTH_FORMAT_FARTHING_CATALOG, 2, "no offer", CAT},
	{FTH_FORMAT_FARTHING_CATALOG, 3, "type t twice", CAT "type t holds=cpu:2\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 3, "no type of this name", CAT "offer u price=1\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 3, "price= is missing", CAT "offer t\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 3, "unknown key", CAT "offer t price=1 cost=2\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 3, "negative", CAT "offer t price=-1\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 3, "not a number", CAT "offer t price=1$\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 3, "not a number", CAT "offer t price=0.0000000001\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 3, "out of range", CAT "offer t price=9999999\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 3, "must be above 0", CAT "offer t price=1 increment=0s\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 3, "not one of", CAT "offer t price=1 market=Spot\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 3, "not yes or no", CAT "offer t price=1 available=maybe\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 4, "the same is above", CAT "offer t price=1 zone=a\noffer t zone=a price=1 minimum=0s\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 5, "the same is above", CAT "offer t price=1\noffer t price=2\noffer t price=1\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 2, "in this order", "farthing-catalog 1\ntype t holds=cpu:1 setup=3s..2s..4s\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 2, "least..mean..greatest", "farthing-catalog 1\ntype t holds=cpu:1 setup=3s..4s\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 2, "needs a unit", "farthing-catalog 1\ntype t holds=cpu:1 setup=3\n"},
	{FTH_FORMAT_FARTHING_CATALOG, 2, "unknown word", "farthing-catalog 1\nsort t\n"},
};

static const struct bad profiles[] = {
	{FTH_FORMAT_FARTHING_PROFILE, 1, "empty", ""},
	{FTH_FORMAT_FARTHING_PROFILE, 1, "no row for any class", "farthing-profile 1\n"},
	{FTH_FORMAT_FARTHING_PROFILE, 2, "no row for a", "farthing-profile 1\nclass a\n"},
	{FTH_FORMAT_FARTHING_PROFILE, 3, "class a twice", "farthing-profile 1\nclass a\nclass a\n"},
	{FTH_FORMAT_FARTHING_PROFILE, 3, "for each of the 1", "farthing-profile 1\nclass a\nrow a rates=1,1\n"},
	{FTH_FORMAT_FARTHING_PROFILE, 4, "for each of the 2", "farthing-profile 1\nclass a\nclass b\nrow a rates=1\n"},
	{FTH_FORMAT_FARTHING_PROFILE, 4, "row a twice", "farthing-profile 1\nclass a\nrow a rates=1\nrow a rates=1\n"},
	{FTH_FORMAT_FARTHING_PROFILE, 3, "negative", "farthing-profile 1\nclass a\nrow a rates=-0.5\n"},
	{FTH_FORMAT_FARTHING_PROFILE, 3, "out of range", "farthing-profile 1\nclass a\nrow a rates=11\n"},
	{FTH_FORMAT_FARTHING_PROFILE, 3, "not a number", "farthing-profile 1\nclass a\nrow a rates=x\n"},
	{FTH_FORMAT_FARTHING_PROFILE, 3, "unknown key", "farthing-profile 1\nclass a\nrow a rates=1 b=1\n"},
	{FTH_FORMAT_FARTHING_PROFILE, 3, "must come first", "farthing-profile 1\nclass a\nprofile missing=1\n"},
	{FTH_FORMAT_EVA_MATRIX, 1, "empty", ""},
	{FTH_FORMAT_EVA_MATRIX, 1, "twice", ",a,a\n"},
	{FTH_FORMAT_EVA_MATRIX, 2, "has no column", ",a\nb,1\n"},
	{FTH_FORMAT_EVA_MATRIX, 2, "columns where", ",a\na,1,2\n"},
	{FTH_FORMAT_EVA_MATRIX, 2, "not a number", ",a\na,y\n"},
	{FTH_FORMAT_EVA_MATRIX, 2, "negative", ",a\na,-1\n"},
	{FTH_FORMAT_EVA_MATRIX, 2, "above 1", ",a\na,1.01\n"},
	{FTH_FORMAT_EVA_MATRIX, 2, "1 rows for 2", ",a,b\na,1,1\n"},
	{FTH_FORMAT_EVA_MATRIX, 3, "twice", ",a,b\na,1,1\na,1,1\n"},
};

#define CSV "job_id,arrival_s,duration_s,gpu,cpu,ram_gb,workload,init_delay,full_throughput,fetch_delay,build_image_delay," \
	    "kill_delay,upload_delay\n"
#define PODS "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
#define SKY "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n"
static const struct bad tables[] = {
	{FTH_FORMAT_EVA_CSV, 1, "empty", ""},
	{FTH_FORMAT_EVA_CSV, 1, "no job", CSV},
	{FTH_FORMAT_EVA_CSV, 1, "unknown column 'colour'", "job_id,colour\n"},
	{FTH_FORMAT_EVA_CSV, 1, "column 'job_id' twice", "job_id,job_id\n"},
	{FTH_FORMAT_EVA_CSV, 1, "'upload_delay' is missing",
	 "job_id,arrival_s,duration_s,gpu,cpu,ram_gb,workload,init_delay,full_throughput,fetch_delay,build_image_delay,kill_delay\n"},
	{FTH_FORMAT_EVA_CSV, 2, "12 columns where the header has 13", CSV "0,960,12430,1,12,16,resnet18[0],80,2.1,1,10,1\n"},
	{FTH_FORMAT_EVA_CSV, 3, "job_id 0 twice", CSV "0,960,12430,1,12,16,a[0],80,2.1,1,10,1,1\n0,960,12430,1,12,16,a[0],80,2.1,1,10,1,1\n"},
	{FTH_FORMAT_EVA_CSV, 2, "arrival_s -960 is negative", CSV "0,-960,12430,1,12,16,a[0],80,2.1,1,10,1,1\n"},
	{FTH_FORMAT_EVA_CSV, 2, "duration_s '12430s' is not", CSV "0,960,12430s,1,12,16,a[0],80,2.1,1,10,1,1\n"},
	{FTH_FORMAT_EVA_CSV, 2, "out of range", CSV "0,99999999999999999999,12430,1,12,16,a[0],80,2.1,1,10,1,1\n"},
	{FTH_FORMAT_EVA_CSV, 2, "out of range", CSV "0,960,99999999999,1,12,16,a[0],80,2.1,1,10,1,1\n"},
	{FTH_FORMAT_EVA_CSV, 2, "gpu -1 is negative", CSV "0,960,12430,-1,12,16,a[0],80,2.1,1,10,1,1\n"},
	{FTH_FORMAT_EVA_CSV, 2, "full_throughput 'fast'", CSV "0,960,12430,1,12,16,a[0],80,fast,1,10,1,1\n"},
	{FTH_FORMAT_EVA_CSV, 2, "workload is empty", CSV "0,960,12430,1,12,16,,80,2.1,1,10,1,1\n"},
	{FTH_FORMAT_ALIBABA_PODS, 2, "pod_phase 'Done'", "name,cpu_milli,memory_mib,num_gpu,pod_phase\np,1000,1024,0,Done\n"},
	{FTH_FORMAT_EVA_CSV, 2, "not closed", CSV "\"0,960,12430,1,12,16,a[0],80,2.1,1,10,1,1\n"},
	{FTH_FORMAT_ALIBABA_PODS, 1, "empty", ""},
	{FTH_FORMAT_ALIBABA_PODS, 1, "no pod", PODS},
	{FTH_FORMAT_ALIBABA_PODS, 1, "unknown column", "name,cpu_milli,memory_mib,num_gpu,shape\n"},
	{FTH_FORMAT_ALIBABA_PODS, 2, "negative", PODS "a,-1,1,1,1\n"},
	{FTH_FORMAT_ALIBABA_PODS, 2, "not a whole number", PODS "a,1Gi,1,1,1\n"},
	{FTH_FORMAT_ALIBABA_PODS, 2, "out of range", PODS "a,1,99999999999,1,1\n"},
	{FTH_FORMAT_ALIBABA_PODS, 3, "pod a twice", PODS "a,1,1,1,1\na,1,1,1,1\n"},
	{FTH_FORMAT_ALIBABA_PODS, 2, "before creation_time",
	 "name,cpu_milli,memory_mib,num_gpu,creation_time,deletion_time\na,1,1,1,5,4\n"},
	{FTH_FORMAT_SKYPILOT_CSV, 1, "empty", ""},
	{FTH_FORMAT_SKYPILOT_CSV, 1, "no offer", SKY},
	{FTH_FORMAT_SKYPILOT_CSV, 1, "unknown column", "InstanceType,Price,Colour\n"},
	{FTH_FORMAT_SKYPILOT_CSV, 2, "negative", SKY "c5.large,,,2,4,,-1,,r,z\n"},
	{FTH_FORMAT_SKYPILOT_CSV, 2, "not a number", SKY "c5.large,,,2,4GB,,1,,r,z\n"},
	{FTH_FORMAT_SKYPILOT_CSV, 2, "out of range", SKY "c5.large,,,2,4,,1e300,,r,z\n"},
	{FTH_FORMAT_SKYPILOT_CSV, 3, "another price", SKY "c5.large,,,2,4,,1,,r,z\nc5.large,,,2,4,,2,,r,z\n"},
	{FTH_FORMAT_SKYPILOT_CSV, 3, "another capacity", SKY "c5.large,,,2,4,,1,,r,z\nc5.large,,,3,4,,1,,r,y\n"},
};

#define TASK "\"name\":\"n\",\"demand\":{\"any\":[1,2,3]},\"fetch_delay\":1,\"build_image_delay\":1,\"kill_delay\":1,\"upload_delay\":1"
#define JOBHEAD "\"name\":\"a[0]\",\"duration\":5,\"init_delay\":1,\"full_throughput\":1,\"total_iters\":5"
static const struct bad documents[] = {
	{FTH_FORMAT_EVA_JSON, 1, "empty", ""},
	{FTH_FORMAT_EVA_JSON, 1, "no job", "{}"},
	{FTH_FORMAT_EVA_JSON, 3, "", "{\n\"0\": {\n"},
	{FTH_FORMAT_EVA_JSON, 1, "", "[1]"},
	{FTH_FORMAT_EVA_JSON, 2, "", "{\"0\":{},\n\"0\":{}}"},
	{FTH_FORMAT_EVA_JSON, 3, "unknown key", "{\"0\":{\n" JOBHEAD ",\n\"colour\":1,\"arrival_time\":1,\"tasks\":{\"0\":{" TASK "}}}}"},
	{FTH_FORMAT_EVA_JSON, 3, "arrival_time: negative", "{\"0\":{\n" JOBHEAD ",\n\"arrival_time\":-1,\"tasks\":{\"0\":{" TASK "}}}}"},
	{FTH_FORMAT_EVA_JSON, 3, "arrival_time: out of range", "{\"0\":{\n" JOBHEAD ",\n\"arrival_time\":1e99,\"tasks\":{\"0\":{" TASK "}}}}"},
	{FTH_FORMAT_EVA_JSON, 3, "", "{\"0\":{\n" JOBHEAD ",\n\"arrival_time\":99999999999999999999,\"tasks\":{\"0\":{" TASK "}}}}"},
	{FTH_FORMAT_EVA_JSON, 3, "a number is needed", "{\"0\":{\n" JOBHEAD ",\n\"arrival_time\":\"1s\",\"tasks\":{\"0\":{" TASK "}}}}"},
	{FTH_FORMAT_EVA_JSON, 1, "tasks: is missing", "{\"0\":{" JOBHEAD ",\n\"arrival_time\":1}}"},
	{FTH_FORMAT_EVA_JSON, 3, "1 to 1000000", "{\"0\":{\n" JOBHEAD ",\n\"arrival_time\":1,\"tasks\":{}}}"},
	{FTH_FORMAT_EVA_JSON, 3, "not an object", "{\"0\":{\n" JOBHEAD ",\n\"arrival_time\":1,\"tasks\":{\"0\":7}}}"},
	{FTH_FORMAT_EVA_JSON, 4, "unknown key", "{\"0\":{\n" JOBHEAD ",\n\"arrival_time\":1,\"tasks\":{\"0\":{" TASK ",\n\"x\":1}}}}"},
	{FTH_FORMAT_EVA_TYPES, 1, "empty", ""},
	{FTH_FORMAT_EVA_TYPES, 1, "instance_types: is missing", "{}"},
	{FTH_FORMAT_EVA_TYPES, 2, "no instance type", "{\n\"instance_types\":{}}"},
	{FTH_FORMAT_EVA_TYPES, 3, "capacity: [GPUs", "{\"instance_types\":{\"a\":{\n\"cost\":1,\"family\":\"f\",\n\"capacity\":[1,2]}}}"},
	{FTH_FORMAT_EVA_TYPES, 2, "cost: negative", "{\"instance_types\":{\"a\":{\"capacity\":[1,2,3],\n\"cost\":-1,\"family\":\"f\"}}}"},
	{FTH_FORMAT_EVA_TYPES, 2, "unknown key", "{\"instance_types\":{\"a\":{\"capacity\":[1,2,3],\n\"price\":1}}}"},
	{FTH_FORMAT_EC2_TYPES, 1, "empty", ""},
	{FTH_FORMAT_EC2_TYPES, 1, "no prices", "{\"InstanceTypes\":[]}"},
};

static void refuse_all(const struct bad *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_refused(&list[i], NULL);
}

static void bad_workloads(void **state) { (void)state; refuse_all(workloads, FTH_COUNT(workloads)); }
static void bad_catalogs(void **state) { (void)state; refuse_all(catalogs, FTH_COUNT(catalogs)); }
static void bad_profiles(void **state) { (void)state; refuse_all(profiles, FTH_COUNT(profiles)); }
static void bad_tables(void **state) { (void)state; refuse_all(tables, FTH_COUNT(tables)); }
static void bad_documents(void **state) { (void)state; refuse_all(documents, FTH_COUNT(documents)); }

#define EC2(inner) "{\"InstanceTypes\":[\n{\"InstanceType\":\"m5.large\"," inner "}]}"
#define CPU "\"VCpuInfo\":{\"DefaultVCpus\":2}"
static void ec2_types_with_prices(void **state)
{
	(void)state;
	static const struct bad bad[] = {
		{FTH_FORMAT_EC2_TYPES, 2, "MemoryInfo: is missing", EC2(CPU)},
		{FTH_FORMAT_EC2_TYPES, 2, "unknown key", EC2(CPU ",\"Shape\":1")},
		{FTH_FORMAT_EC2_TYPES, 3, "SizeInMiB: negative", EC2(CPU ",\"MemoryInfo\":{\n\"SizeInMiB\":-1}")},
		{FTH_FORMAT_EC2_TYPES, 2, "twice",
		 "{\"InstanceTypes\":[{\"InstanceType\":\"m5.large\"," CPU ",\"MemoryInfo\":{\"SizeInMiB\":1}},\n"
		 "{\"InstanceType\":\"m5.large\"," CPU ",\"MemoryInfo\":{\"SizeInMiB\":1}}]}"},
	};
	char path[] = "/tmp/farthing-prices-XXXXXX";
	int fd = mkstemp(path);
	static const char list[] = "type,price\nm5.large,0.096\np3.2xlarge,3.06\n";
	assert_int_equal(write(fd, list, strlen(list)), strlen(list));
	close(fd);
	for (size_t i = 0; i < FTH_COUNT(bad); i++)
		assert_refused(&bad[i], path);

	static const char good[] =
		"{\"InstanceTypes\":[{\"InstanceType\":\"m5.large\",\"CurrentGeneration\":true," CPU
		",\"MemoryInfo\":{\"SizeInMiB\":8192},\"ProcessorInfo\":{\"SupportedArchitectures\":[\"i386\",\"x86_64\"]}},"
		"{\"InstanceType\":\"p3.2xlarge\",\"VCpuInfo\":{\"DefaultVCpus\":8},\"MemoryInfo\":{\"SizeInMiB\":62464},"
		"\"GpuInfo\":{\"Gpus\":[{\"Name\":\"V100\",\"Count\":1}]}},"
		"{\"InstanceType\":\"x1.large\",\"VCpuInfo\":{\"DefaultVCpus\":8},\"MemoryInfo\":{\"SizeInMiB\":62464}}]}";
	struct world *w = world_new();
	struct fth_import_options o = {.prices = path};
	if (world_read(w, "ec2.json", good, strlen(good), FTH_FORMAT_AUTO, FTH_CONTENT_CATALOG, &o))
		fail_msg("%s", w->err.text);
	const struct fth_catalog *c = &w->catalog.pub;
	assert_int_equal(c->ntypes, 2); /* the third has no price */
	assert_int_equal(c->types[1].capacity.v[FTH_GPU], 1000);
	assert_int_equal(c->types[1].capacity.v[FTH_MEM], 62464);
	assert_string_equal(fth_sym_str(w->syms, c->types[0].arch), "x86_64");
	assert_string_equal(fth_sym_str(w->syms, c->types[0].family), "m5");
	assert_int_equal(c->offers[1].price, 3060000000);
	world_free(w);
	unlink(path);
}

static void a_task_no_type_can_hold(void **state)
{
	(void)state;
	static const char workload[] = WL "kind big any=gpu:99\n" JOB "job b submit=0s tasks=1xbig:1s\n";
	static const char catalog[] = CAT "offer t price=1\n";
	struct world *w = world_new();
	assert_int_equal(world_read(w, "w.txt", workload, strlen(workload), 0, FTH_CONTENT_WORKLOAD, NULL), 0);
	assert_int_equal(world_read(w, "c.txt", catalog, strlen(catalog), 0, FTH_CONTENT_CATALOG, NULL), 0);
	assert_int_equal(fth_workload_check(&w->workload, &w->catalog.pub, "w.txt", &w->err), -EINVAL);
	assert_true(!strncmp(w->err.text, "w.txt:5: job b", 14));
	world_free(w);
}

/* A workload's extra resources are the catalog's by name, whatever the order either lists them in. */
static void extra_resources_go_by_name(void **state)
{
	(void)state;
	static const char workload[] = "farthing-workload 1\nresource disk\nresource seats\nkind K any=disk:5\n" JOB;
	static const char catalog[] = "farthing-catalog 1\nresource seats\nresource disk\ntype t holds=disk:9\noffer t price=1\n";
	struct world *w = world_new();
	assert_int_equal(world_read(w, "c.txt", catalog, strlen(catalog), 0, FTH_CONTENT_CATALOG, NULL), 0);
	fth_kinds_adopt_resources(&w->kinds, w->catalog.nres, w->catalog.res_names);
	assert_int_equal(world_read(w, "w.txt", workload, strlen(workload), 0, FTH_CONTENT_WORKLOAD, NULL), 0);
	assert_int_equal(fth_workload_check(&w->workload, &w->catalog.pub, "w.txt", &w->err), 0);
	assert_int_equal(w->kinds.list.data[0].alts[0].demand.v[4], 5);
	world_free(w);
	w = world_new(); /* read on its own, its numbering is another: refused, not mixed up */
	assert_int_equal(world_read(w, "w.txt", workload, strlen(workload), 0, FTH_CONTENT_WORKLOAD, NULL), 0);
	assert_int_equal(world_read(w, "c.txt", catalog, strlen(catalog), 0, FTH_CONTENT_CATALOG, NULL), 0);
	assert_int_equal(fth_workload_check(&w->workload, &w->catalog.pub, "w.txt", &w->err), -EINVAL);
	assert_non_null(strstr(w->err.text, "resource disk"));
	world_free(w);
}

static void the_wrong_kind_of_file(void **state)
{
	(void)state;
	struct world *w = world_new();
	static const char catalog[] = CAT "offer t price=1\n";
	assert_int_equal(world_read(w, "c.txt", catalog, strlen(catalog), 0, FTH_CONTENT_WORKLOAD, NULL), -EINVAL);
	assert_non_null(strstr(w->err.text, "c.txt:1: a catalog (farthing-catalog) where a workload is needed"));
	assert_int_equal(world_read(w, "x.txt", "hello\n", 6, 0, FTH_CONTENT_PROFILE, NULL), -EINVAL);
	assert_non_null(strstr(w->err.text, "x.txt:1: not recognised"));
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_workloads),
		cmocka_unit_test(bad_catalogs),
		cmocka_unit_test(bad_profiles),
		cmocka_unit_test(bad_tables),
		cmocka_unit_test(bad_documents),
		cmocka_unit_test(ec2_types_with_prices),
		cmocka_unit_test(a_task_no_type_can_hold),
		cmocka_unit_test(extra_resources_go_by_name),
		cmocka_unit_test(the_wrong_kind_of_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
