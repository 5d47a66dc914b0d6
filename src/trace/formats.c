/* SPDX-License-Identifier: Apache-2.0 */
/* Which format a file has, and which reader it goes to. */
#include "trace/readers.h"

static const struct {
	const char *name;
	enum fth_content content;
} formats[FTH_FORMAT_NKINDS] = {
	[FTH_FORMAT_AUTO] = {"auto", 0},
	[FTH_FORMAT_FARTHING_WORKLOAD] = {"farthing-workload", FTH_CONTENT_WORKLOAD},
	[FTH_FORMAT_EVA_JSON] = {"eva-json", FTH_CONTENT_WORKLOAD},
	[FTH_FORMAT_EVA_CSV] = {"eva-csv", FTH_CONTENT_WORKLOAD},
	[FTH_FORMAT_ALIBABA_PODS] = {"alibaba-pods", FTH_CONTENT_WORKLOAD},
	[FTH_FORMAT_HAWK_TR] = {"hawk-tr", FTH_CONTENT_WORKLOAD},
	[FTH_FORMAT_SWF] = {"swf", FTH_CONTENT_WORKLOAD},
	[FTH_FORMAT_SACCT] = {"sacct", FTH_CONTENT_WORKLOAD},
	[FTH_FORMAT_FARTHING_CATALOG] = {"farthing-catalog", FTH_CONTENT_CATALOG},
	[FTH_FORMAT_EVA_TYPES] = {"eva-types", FTH_CONTENT_CATALOG},
	[FTH_FORMAT_SKYPILOT_CSV] = {"skypilot-csv", FTH_CONTENT_CATALOG},
	[FTH_FORMAT_EC2_TYPES] = {"ec2-types", FTH_CONTENT_CATALOG},
	[FTH_FORMAT_FARTHING_PROFILE] = {"farthing-profile", FTH_CONTENT_PROFILE},
	[FTH_FORMAT_EVA_MATRIX] = {"eva-matrix", FTH_CONTENT_PROFILE},
	[FTH_FORMAT_ALIBABA_2017] = {"alibaba-2017", FTH_CONTENT_WORKLOAD},
	[FTH_FORMAT_GOOGLE_TASKS] = {"google-tasks", FTH_CONTENT_WORKLOAD},
	[FTH_FORMAT_SPOT_CSV] = {"spot-csv", FTH_CONTENT_MARKET},
	[FTH_FORMAT_EC2_SPOT] = {"ec2-spot", FTH_CONTENT_MARKET},
	[FTH_FORMAT_AVAILABILITY] = {"availability", FTH_CONTENT_MARKET},
};
static const char *const content_names[] = {"nothing", "a workload", "a catalog", "a co-location profile", "a market"};

const char *fth_format_name(enum fth_format f)
{
	return f < FTH_FORMAT_NKINDS ? formats[f].name : "unknown";
}

enum fth_content fth_format_content(enum fth_format f)
{
	return f < FTH_FORMAT_NKINDS ? formats[f].content : 0;
}

int fth_format_find(const char *name, enum fth_content content, enum fth_format *ret)
{
	for (int f = 0; f < FTH_FORMAT_NKINDS; f++)
		if (!strcmp(formats[f].name, name) && (!f || !content || formats[f].content == content)) {
			*ret = (enum fth_format)f;
			return 0;
		}
	return -ENOENT;
}

/* ---- recognising ---- */

static bool holds(const char *text, size_t n, const char *what)
{
	return text && memmem(text, n, what, strlen(what)) != NULL;
}

static bool begins(const char *text, size_t n, const char *what)
{
	return n >= strlen(what) && !memcmp(text, what, strlen(what));
}

/* A job of the Standard Workload Format: 18 numbers and nothing else. */
static bool is_numbers(const char *p, size_t n)
{
	int fields = 0;
	bool in = false;
	for (size_t i = 0; i < n; i++) {
		bool space = p[i] == ' ' || p[i] == '\t' || p[i] == '\r';
		if (!space && !(p[i] >= '0' && p[i] <= '9') && p[i] != '-' && p[i] != '.')
			return false;
		fields += !space && !in;
		in = !space;
	}
	return fields == 18;
}

static enum fth_format recognise(const char *p, size_t n)
{
	if (begins(p, n, "farthing-workload "))
		return FTH_FORMAT_FARTHING_WORKLOAD;
	if (begins(p, n, "farthing-catalog "))
		return FTH_FORMAT_FARTHING_CATALOG;
	if (begins(p, n, "farthing-profile "))
		return FTH_FORMAT_FARTHING_PROFILE;
	size_t space = 0;
	while (space < n && strchr(" \t\r\n", p[space]) && p[space])
		space++;
	if (space < n && p[space] == '{') {
		if (holds(p, n, "\"InstanceTypes\""))
			return FTH_FORMAT_EC2_TYPES;
		if (holds(p, n, "\"SpotPriceHistory\""))
			return FTH_FORMAT_EC2_SPOT;
		if (holds(p, n, "\"gap_seconds\""))
			return FTH_FORMAT_AVAILABILITY;
		if (holds(p, n, "\"instance_types\""))
			return FTH_FORMAT_EVA_TYPES;
		return holds(p, n, "\"arrival_time\"") ? FTH_FORMAT_EVA_JSON : FTH_FORMAT_AUTO;
	}
	const char *end = memchr(p, '\n', n);
	size_t line = end ? (size_t)(end - p) : n;
	if (space < n && (p[space] == ';' || is_numbers(p, line)))
		return FTH_FORMAT_SWF;
	if (holds(p, line, "JobID") && memchr(p, '|', line))
		return FTH_FORMAT_SACCT;
	if (holds(p, line, "job_id") && holds(p, line, "arrival_s"))
		return FTH_FORMAT_EVA_CSV;
	if (holds(p, line, "epoch") && holds(p, line, "instance_type") && holds(p, line, "price"))
		return FTH_FORMAT_SPOT_CSV;
	if (holds(p, line, "submit_time") && holds(p, line, "instances_num"))
		return FTH_FORMAT_ALIBABA_2017;
	size_t commas = 0;
	for (size_t i = 0; i < line; i++)
		commas += p[i] == ',';
	if (commas == 12 && *p >= '0' && *p <= '9')
		return FTH_FORMAT_GOOGLE_TASKS;
	if (holds(p, line, "cpu_milli") && holds(p, line, "num_gpu"))
		return FTH_FORMAT_ALIBABA_PODS;
	if (holds(p, line, "InstanceType") && holds(p, line, "Price"))
		return FTH_FORMAT_SKYPILOT_CSV;
	if (fth_looks_like_hawk(p, n))
		return FTH_FORMAT_HAWK_TR;
	return n > 1 && *p == ',' ? FTH_FORMAT_EVA_MATRIX : FTH_FORMAT_AUTO;
}

int fth_recognise_input(struct fth_input *in, enum fth_format *ret, struct fth_error *err)
{
	const char *p = "";
	size_t n = 0;
	int r = fth_input_peek(in, &p, &n, err);
	if (r)
		return r;
	if (!n)
		return fth_fail_at(err, -EINVAL, fth_input_name(in), 1, "the file is empty");
	*ret = recognise(p, n);
	return 0;
}

int fth_recognise(const char *path, enum fth_format *ret, struct fth_error *err)
{
	struct fth_input *in;
	int r = fth_input_open(&in, path, err);
	if (r)
		return r;
	r = fth_recognise_input(in, ret, err);
	fth_input_close(in);
	return r;
}

/* Settle the format and see that it holds what is wanted. */
static int settle(struct fth_input *in, enum fth_format *f, enum fth_content want, struct fth_error *err)
{
	if (*f == FTH_FORMAT_AUTO) {
		int r = fth_recognise_input(in, f, err);
		if (r)
			return r;
		if (*f == FTH_FORMAT_AUTO && want == FTH_CONTENT_WORKLOAD && fth_ends_like_hawk(fth_input_name(in)))
			*f = FTH_FORMAT_HAWK_TR; /* its reader says what is wrong with it */
		if (*f == FTH_FORMAT_AUTO)
			return fth_fail_at(err, -EINVAL, fth_input_name(in), 1, "not recognised as any format of %s",
					   content_names[want]);
	}
	if (fth_format_content(*f) != want)
		return fth_fail_at(err, -EINVAL, fth_input_name(in), 1, "%s (%s) where %s is needed",
				   content_names[fth_format_content(*f)], fth_format_name(*f), content_names[want]);
	return 0;
}

/* ---- reading ---- */

/* "pai_200" for "/data/pai_200.json.gz": what reports call a workload without a name. */
static fth_sym name_of(struct fth_symtab *syms, const char *file)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *dot = strchr(base, '.');
	return fth_sym_internn(syms, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

int fth_read_workload(struct fth_workload *w, struct fth_input *in, enum fth_format f, const struct fth_import_options *o,
		      struct fth_error *err)
{
	static const struct fth_import_options none;
	int r = settle(in, &f, FTH_CONTENT_WORKLOAD, err);
	if (!o)
		o = &none;
	if (!r)
		r = fth_workload_wishes(f, in, o, err);
	if (r)
		return r;
	if (f != FTH_FORMAT_FARTHING_WORKLOAD)
		w->name = name_of(w->syms, fth_input_name(in));
	if (f == FTH_FORMAT_EVA_JSON)
		r = fth_read_eva_json(w, in, err);
	else if (f == FTH_FORMAT_EVA_CSV)
		r = fth_read_eva_csv(w, in, err);
	else if (f == FTH_FORMAT_SWF)
		r = fth_read_swf(w, in, o ? o : &none, err);
	else if (f == FTH_FORMAT_SACCT)
		r = fth_read_sacct(w, in, o ? o : &none, err);
	else if (f == FTH_FORMAT_ALIBABA_PODS)
		r = fth_read_pods(w, in, o, err);
	else if (f == FTH_FORMAT_HAWK_TR)
		r = fth_read_hawk(w, in, o ? o : &none, err);
	else if (f == FTH_FORMAT_ALIBABA_2017)
		r = fth_read_alibaba_2017(w, in, err);
	else if (f == FTH_FORMAT_GOOGLE_TASKS)
		r = fth_read_google_tasks(w, in, err);
	else
		r = fth_read_canon_workload(w, in, err);
	if (!r)
		fth_workload_finish(w);
	return r;
}

int fth_read_catalog(struct fth_catalog_store *c, struct fth_input *in, enum fth_format f,
		     const struct fth_import_options *o, struct fth_error *err)
{
	static const struct fth_import_options none;
	int r = settle(in, &f, FTH_CONTENT_CATALOG, err);
	if (!o)
		o = &none;
	if (!r)
		r = fth_catalog_wishes(f, in, o, err);
	if (r)
		return r;
	if (f == FTH_FORMAT_EVA_TYPES)
		r = fth_read_eva_types(c, in, o, err);
	else if (f == FTH_FORMAT_SKYPILOT_CSV)
		r = fth_read_skypilot(c, in, o, err);
	else if (f == FTH_FORMAT_EC2_TYPES)
		r = fth_read_ec2_types(c, in, o, err);
	else if (!(r = fth_read_canon_catalog(c, in, err)))
		r = fth_catalog_choose(c, in, o, err);
	return r ? r : fth_catalog_finish(c, err);
}

int fth_read_profile(struct fth_profile *p, struct fth_input *in, enum fth_format f, struct fth_error *err)
{
	int r = settle(in, &f, FTH_CONTENT_PROFILE, err);
	if (r)
		return r;
	return f == FTH_FORMAT_EVA_MATRIX ? fth_read_eva_matrix(p, in, err) : fth_read_canon_profile(p, in, err);
}

int fth_read_market(struct fth_market_data *m, struct fth_catalog_store *c, struct fth_input *in, enum fth_format f,
		    const struct fth_market_options *o, struct fth_error *err)
{
	static const struct fth_market_options none;
	int r = settle(in, &f, FTH_CONTENT_MARKET, err);
	if (r)
		return r;
	if (!o)
		o = &none;
	if (m->first_made == FTH_NONE)
		m->first_made = (fth_offer_id)c->offers.len;
	if (f == FTH_FORMAT_SPOT_CSV)
		r = fth_read_spot_csv(m, c, in, o, err);
	else if (f == FTH_FORMAT_EC2_SPOT)
		r = fth_read_ec2_spot(m, c, in, o, err);
	else
		r = fth_read_availability(m, c, in, o, err);
	if (r)
		return r;
	if (!m->rows_read)
		return fth_fail_at(err, -EINVAL, fth_input_name(in), 1, "no price in it");
	fth_market_finish(m);
	/* It may have offers now that it had not. */
	return c->offers.len > m->first_made ? fth_catalog_finish(c, err) : 0;
}

int fth_load_market(struct fth_market_data *m, struct fth_catalog_store *c, const char *path, enum fth_format f,
		    const struct fth_market_options *o, struct fth_error *err)
{
	struct fth_input *in;
	int r = fth_input_open(&in, path, err);
	if (r)
		return r;
	r = fth_read_market(m, c, in, f, o, err);
	fth_input_close(in);
	return r;
}

int fth_load_workload(struct fth_workload *w, const char *path, enum fth_format f, const struct fth_import_options *o,
		      struct fth_error *err)
{
	struct fth_input *in;
	int r = fth_input_open(&in, path, err);
	if (r)
		return r;
	r = fth_read_workload(w, in, f, o, err);
	fth_input_close(in);
	return r;
}

int fth_load_catalog(struct fth_catalog_store *c, const char *path, enum fth_format f,
		     const struct fth_import_options *o, struct fth_error *err)
{
	struct fth_input *in;
	int r = fth_input_open(&in, path, err);
	if (r)
		return r;
	r = fth_read_catalog(c, in, f, o, err);
	fth_input_close(in);
	return r;
}

int fth_load_profile(struct fth_profile *p, const char *path, enum fth_format f, struct fth_error *err)
{
	struct fth_input *in;
	int r = fth_input_open(&in, path, err);
	if (r)
		return r;
	r = fth_read_profile(p, in, f, err);
	fth_input_close(in);
	return r;
}

/* ---- what readers share ---- */

bool fth_resource_name_ok(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr("._-", *p)))
			return false;
	return *name;
}

const char *fth_iterations_wrong(int64_t iters, double rate)
{
	if (iters && !(rate > 0))
		return "iterations without a rate";
	if (rate > 0 && (double)iters / rate > (double)(FTH_TRACE_TIME_MAX / FTH_SEC))
		return "iterations that take more than a thousand years";
	return NULL;
}

bool fth_family_wanted(const char *list, const char *family)
{
	if (!list || !*list)
		return true;
	size_t n = strlen(family);
	for (const char *p = list; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (!strncmp(p, family, n) && (!p[n] || p[n] == ','))
			return true;
	}
	return false;
}

fth_sym fth_label_class(struct fth_symtab *syms, const char *label)
{
	size_t n = strcspn(label, "[");
	return fth_sym_internn(syms, label, n ? n : strlen(label));
}

fth_sym fth_type_family(struct fth_symtab *syms, const char *type)
{
	const char *dot = strchr(type, '.');
	return fth_sym_internn(syms, type, dot ? (size_t)(dot - type) : strcspn(type, "-"));
}
