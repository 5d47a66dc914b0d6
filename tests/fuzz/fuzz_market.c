/* SPDX-License-Identifier: Apache-2.0 */
/* Market files of every format, alone and over a catalog; then the market is played. */
#include "fuzz.h"

static void read_market(const uint8_t *data, size_t size, bool any_type)
{
	static const char text[] = "farthing-catalog 1\ntype m4.large holds=cpu:2\noffer m4.large price=0.1\n"
				   "type p3.2xlarge holds=gpu:1\noffer p3.2xlarge zone=a market=spot price=1\n";
	struct fth_symtab *syms = fth_symtab_new();
	struct fth_catalog_store c;
	struct fth_market_data m;
	struct fth_error err = {0};
	struct fth_input *in;
	struct fth_market_options o = {.any_type = any_type, .type = "m4.large", .zone = "b"};
	fth_catalog_init(&c, syms);
	fth_market_init(&m);
	if (!fth_input_open_memory(&in, "c", text, sizeof(text) - 1, &err)) {
		fth_read_catalog(&c, in, FTH_FORMAT_AUTO, NULL, &err);
		fth_input_close(in);
	}
	if (!fth_input_open_memory(&in, "us-west-2a_v100_1.json", data, size, &err)) {
		err = (struct fth_error){0};
		int r = fth_read_market(&m, &c, in, FTH_FORMAT_AUTO, any_type ? &o : NULL, &err);
		fth_input_close(in);
		if (r && !err.text[0])
			abort(); /* failed without a word */
		if (!r) {
			struct fth_market_tape tape = {0};
			fth_market_play(&m, m.first <= m.last ? m.first : 0, &tape);
			for (size_t i = 1; i < tape.changes.len; i++)
				if (tape.changes.data[i].at < tape.changes.data[i - 1].at || tape.changes.data[i].value < 0)
					abort();
			fth_market_tape_release(&tape);
		}
	}
	fth_market_release(&m);
	fth_catalog_release(&c);
	fth_symtab_free(syms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_market(data, size, false);
	read_market(data, size, true);
	return 0;
}
