/* SPDX-License-Identifier: Apache-2.0 */
#include "report/spot.h"

#include <ctype.h>
#include <math.h>

#include "report/format.h"

double fth_spot_report_gap(const struct fth_spot_report *r)
{
	return r->bound > 0 && isfinite(r->bound) ? FTH_MAX((r->plan->cost - r->bound) / r->bound, 0) : 0;
}

static double excess(const struct fth_spot_report *r)
{
	return (double)r->plan->total / (double)r->problem->capacity - 1;
}

/* One line of the pool: so many machines of an offer, on one market. */
struct line {
	const struct fth_spot_offer *offer;
	uint32_t count;
	bool on_demand;
};

/* The k-th line of the pool, in the order of the offers. */
static bool next_line(const struct fth_spot_report *r, uint32_t *at, struct line *ret)
{
	for (; *at < 2 * r->problem->noffers; (*at)++) {
		uint32_t i = *at / 2;
		bool on_demand = *at & 1;
		uint32_t count = on_demand ? r->plan->on_demand[i] : r->plan->count[i];
		if (!count)
			continue;
		*ret = (struct line){&r->problem->offers[i], count, on_demand};
		(*at)++;
		return true;
	}
	return false;
}

static bool many_zones(const struct fth_spot_report *r)
{
	for (uint32_t i = 1; i < r->problem->noffers; i++)
		if (strcmp(r->problem->offers[i].zone, r->problem->offers[0].zone))
			return true;
	return false;
}

void fth_spot_json_in(const struct fth_spot_report *r, struct fth_json *j, const char *key)
{
	struct line l;
	bool zones = many_zones(r);
	fth_json_begin(j, key, '{');
	fth_json_text(j, "schema", "farthing.plan.spot/1");
	fth_json_text(j, "policy", r->policy);
	fth_json_bool(j, "met", r->plan->met);
	fth_json_real(j, "cost_per_hour", r->plan->cost);
	fth_json_real(j, "availability", r->plan->availability);
	fth_json_int(j, "capacity", (int64_t)r->plan->total);
	fth_json_real(j, "excess", excess(r));
	fth_json_real(j, "on_demand_per_hour", r->on_demand > 0 ? r->on_demand : NAN);
	fth_json_real(j, "lower_bound_per_hour", r->bound);
	fth_json_real(j, "gap", r->plan->met ? fth_spot_report_gap(r) : NAN);
	fth_json_begin(j, "pool", '[');
	for (uint32_t at = 0; next_line(r, &at, &l);) {
		fth_json_begin(j, NULL, '{');
		fth_json_text(j, "type", l.offer->type);
		fth_json_int(j, "count", l.count);
		if (zones)
			fth_json_text(j, "zone", l.offer->zone);
		if (l.on_demand)
			fth_json_text(j, "market", "on-demand");
		fth_json_end(j, '}');
	}
	fth_json_end(j, ']');
	fth_json_real(j, "wall_s", r->wall_s);
	fth_json_end(j, '}');
}

void fth_spot_json(const struct fth_spot_report *r, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	fth_spot_json_in(r, &j, NULL);
}

void fth_spot_csv(const struct fth_spot_report *r, struct fth_str *out)
{
	struct fth_csvout v = {.out = out};
	struct line l;
	fth_str_add(out, "type,zone,market,count,capacity,price_per_hour,cost_per_hour,availability\r\n");
	for (uint32_t at = 0; next_line(r, &at, &l);) {
		double price = l.on_demand ? l.offer->on_demand : l.offer->price;
		fth_csvout_text(&v, l.offer->type);
		fth_csvout_text(&v, l.offer->zone);
		fth_csvout_text(&v, l.on_demand ? "on-demand" : "spot");
		fth_csvout_int(&v, l.count);
		fth_csvout_int(&v, (int64_t)(l.count * l.offer->capacity));
		fth_csvout_real(&v, price);
		fth_csvout_real(&v, price * l.count);
		fth_csvout_real(&v, l.on_demand ? 1 - r->problem->failure : l.offer->availability);
		fth_csvout_end(&v);
	}
}

/* ---- table ---- */

static void pool_lines(const struct fth_spot_report *r, struct fth_str *out)
{
	struct line l;
	int width = 4;
	bool zones = many_zones(r);
	for (uint32_t at = 0; next_line(r, &at, &l);)
		width = FTH_MAX(width, (int)strlen(l.offer->type));
	for (uint32_t at = 0; next_line(r, &at, &l);) {
		double price = l.on_demand ? l.offer->on_demand : l.offer->price;
		fth_str_addf(out, "%6u x %-*s  ", l.count, width, l.offer->type);
		if (zones)
			fth_str_addf(out, "%-12s ", l.offer->zone);
		fth_str_addf(out, "%-9s ", l.on_demand ? "on-demand" : "spot");
		fth_human_usd(out, price * l.count, 4);
		fth_str_addf(out, "/h  %llu units, there ", (unsigned long long)(l.count * l.offer->capacity));
		fth_human_availability(out, l.on_demand ? 1 - r->problem->failure : l.offer->availability);
		fth_str_addc(out, '\n');
	}
}

static void figure(struct fth_str *out, const char *name, double usd)
{
	fth_str_addf(out, "%-14s", name);
	fth_human_usd(out, usd, 4);
	fth_str_add(out, "/h");
}

static void alternative_line(const struct fth_spot_report *r, const struct fth_spot_alternative *a, bool colour, struct fth_str *out)
{
	bool chosen = !strcmp(a->policy, r->policy);
	struct fth_str cost = {0};
	fth_human_usd(&cost, a->cost, 4);
	fth_str_addf(out, "%s%-7s %-13s %12s/h  ", chosen && colour ? "\033[1m" : "", chosen ? "CHOSEN" : "", a->policy, cost.data);
	fth_human_availability(out, a->availability);
	fth_str_addf(out, "  %s%s", a->met ? "meets the target" : "MISSES the target", a->on_demand ? " (on demand)" : "");
	if (!chosen) {
		double more = a->cost - r->plan->cost;
		fth_str_add(out, more >= 0 ? ", +" : ", -");
		fth_human_usd(out, fabs(more), 4);
		fth_str_add(out, "/h");
	}
	fth_str_addf(out, "%s\n", chosen && colour ? "\033[0m" : "");
	fth_str_release(&cost);
}

void fth_spot_table(const struct fth_spot_report *r, bool colour, struct fth_str *out)
{
	const struct fth_spot_plan *p = r->plan;
	fth_str_addf(out, "%s%llu units with availability ", colour ? "\033[1m" : "", (unsigned long long)r->problem->capacity);
	fth_str_real(out, r->problem->target);
	fth_str_addf(out, "%s\n\n", colour ? "\033[0m" : "");
	pool_lines(r, out);
	fth_str_addc(out, '\n');
	figure(out, "cost", p->cost);
	if (r->on_demand > 0)
		fth_str_addf(out, "  (%.1f%% of on demand)", 100 * p->cost / r->on_demand);
	fth_str_addf(out, "\n%-14s", "availability");
	fth_human_availability(out, p->availability);
	fth_str_addf(out, "%s\n%-14s%llu units, %.1f%% more than asked for\n", p->met ? "" : "  MISSES the target", "capacity",
		     (unsigned long long)p->total, 100 * excess(r));
	figure(out, "lower bound", r->bound);
	if (!p->met)
		fth_str_add(out, "  (proven, for pools that meet the target: this one does not)\n");
	else
		fth_str_addf(out, "  (proven: gap %.2f%%%s)\n", 100 * fth_spot_report_gap(r),
			     r->bound_exact && !strcmp(r->policy, "search") && !p->fallback ? ", which is rounding to whole machines" : "");
	if (r->on_demand > 0) {
		figure(out, "on demand", r->on_demand);
		fth_str_add(out, "  (reference: the cheapest capacity, machines divisible)\n");
	}
	fth_str_addf(out, "%-14s%s, %.3f s\n", "policy", r->policy, r->wall_s);
	if (r->nalternatives)
		fth_str_addc(out, '\n');
	for (size_t i = 0; i < r->nalternatives; i++)
		alternative_line(r, &r->alternatives[i], colour, out);
}

/* ---- files to apply ---- */

static void fleet_override(struct fth_json *j, const struct line *l)
{
	fth_json_begin(j, NULL, '{');
	fth_json_text(j, "InstanceType", l->offer->type);
	if (*l->offer->zone)
		fth_json_text(j, "AvailabilityZone", l->offer->zone);
	fth_json_real(j, "WeightedCapacity", (double)l->offer->capacity);
	fth_json_end(j, '}');
}

/* One request per kind, so that the fleet holds as many of each as the plan says: a single request with weights would let EC2
 * choose the mix, and with it the availability. A list of requests, each of which CreateFleet takes as it is. */
void fth_spot_create_fleet(const struct fth_spot_report *r, struct fth_str *out)
{
	struct fth_json j = {.out = out};
	struct line l;
	fth_json_begin(&j, NULL, '[');
	for (uint32_t at = 0; next_line(r, &at, &l);) {
		int64_t capacity = (int64_t)(l.count * l.offer->capacity);
		fth_json_begin(&j, NULL, '{');
		fth_json_text(&j, "Type", "maintain"); /* a revoked machine is asked for again when it is to be had */
		fth_json_begin(&j, "TargetCapacitySpecification", '{');
		fth_json_int(&j, "TotalTargetCapacity", capacity);
		fth_json_int(&j, "OnDemandTargetCapacity", l.on_demand ? capacity : 0);
		fth_json_int(&j, "SpotTargetCapacity", l.on_demand ? 0 : capacity);
		fth_json_text(&j, "DefaultTargetCapacityType", l.on_demand ? "on-demand" : "spot");
		fth_json_end(&j, '}');
		if (!l.on_demand) {
			fth_json_begin(&j, "SpotOptions", '{');
			fth_json_text(&j, "AllocationStrategy", "lowest-price");
			fth_json_text(&j, "InstanceInterruptionBehavior", "terminate");
			fth_json_end(&j, '}');
		}
		fth_json_begin(&j, "LaunchTemplateConfigs", '[');
		fth_json_begin(&j, NULL, '{');
		fth_json_begin(&j, "LaunchTemplateSpecification", '{');
		fth_json_text(&j, "LaunchTemplateName", "farthing");
		fth_json_text(&j, "Version", "$Latest");
		fth_json_end(&j, '}');
		fth_json_begin(&j, "Overrides", '[');
		fleet_override(&j, &l);
		fth_json_end(&j, ']');
		fth_json_end(&j, '}');
		fth_json_end(&j, ']');
		fth_json_end(&j, '}');
	}
	fth_json_end(&j, ']');
}

/* A name as Kubernetes takes it: lower case, digits, '-' and '.'. */
static void dns_name(struct fth_str *out, const char *text)
{
	for (; *text; text++)
		fth_str_addc(out, isalnum((unsigned char)*text) || *text == '.' || *text == '-' ? (char)tolower((unsigned char)*text) : '-');
}

/* A YAML string, always quoted. */
static void yaml_text(struct fth_str *out, const char *text)
{
	fth_str_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fth_str_addc(out, '\\');
		fth_str_addc(out, *text);
	}
	fth_str_addc(out, '"');
}

static void requirement(struct fth_str *out, const char *key, const char *value)
{
	fth_str_addf(out, "        - key: %s\n          operator: In\n          values: [", key);
	yaml_text(out, value);
	fth_str_add(out, "]\n");
}

/* Static node pools (a fixed number of replicas each). */
void fth_spot_karpenter(const struct fth_spot_report *r, struct fth_str *out)
{
	struct line l;
	bool first = true;
	for (uint32_t at = 0; next_line(r, &at, &l); first = false) {
		const char *market = l.on_demand ? "on-demand" : "spot";
		fth_str_addf(out, "%sapiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: ", first ? "" : "---\n");
		fth_str_addf(out, "farthing-%s-", market);
		dns_name(out, l.offer->type);
		if (*l.offer->zone) {
			fth_str_addc(out, '-');
			dns_name(out, l.offer->zone);
		}
		fth_str_addf(out, "\nspec:\n  replicas: %u\n  template:\n    spec:\n      nodeClassRef:\n        group: karpenter.k8s.aws\n"
				  "        kind: EC2NodeClass\n        name: default\n      requirements:\n", l.count);
		requirement(out, "node.kubernetes.io/instance-type", l.offer->type);
		requirement(out, "karpenter.sh/capacity-type", market);
		if (*l.offer->zone)
			requirement(out, "topology.kubernetes.io/zone", l.offer->zone);
		fth_str_addf(out, "  limits:\n    nodes: %u\n", l.count);
	}
}

void fth_spot_kube_aws(const struct fth_spot_report *r, struct fth_str *out)
{
	struct line l;
	const char *role = r->iam_fleet_role ? r->iam_fleet_role : "arn:aws:iam::000000000000:role/aws-ec2-spot-fleet-tagging-role";
	fth_str_add(out, "worker:\n  nodePools:\n");
	for (uint32_t at = 0; next_line(r, &at, &l);) {
		fth_str_addf(out, "  - name: nodepool-%s-", l.on_demand ? "on-demand" : "spot");
		dns_name(out, l.offer->type);
		if (many_zones(r)) {
			fth_str_addc(out, '-');
			dns_name(out, l.offer->zone);
		}
		if (many_zones(r)) { /* a subnet is what has a zone there */
			fth_str_add(out, "\n    subnets:\n    - name: ");
			yaml_text(out, l.offer->zone);
		}
		if (l.on_demand) {
			fth_str_addf(out, "\n    count: %u\n    instanceType: ", l.count);
			yaml_text(out, l.offer->type);
			fth_str_addc(out, '\n');
			continue;
		}
		fth_str_add(out, "\n    spotFleet:\n      iamFleetRoleArn: ");
		yaml_text(out, role);
		fth_str_addf(out, "\n      targetCapacity: %llu\n      launchSpecifications:\n      - weightedCapacity: %llu\n        instanceType: ",
			     (unsigned long long)(l.count * l.offer->capacity), (unsigned long long)l.offer->capacity);
		yaml_text(out, l.offer->type);
		fth_str_addc(out, '\n');
	}
}
