/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page.h"

#include "report/format.h"

/* Series colours keep apart for the common kinds of colour blindness, and stand out from their ground. */
static const char style[] =
	":root{color-scheme:light dark;--bg:#f4f6f8;--card:#fff;--ink:#18202c;--soft:#566072;--line:#dde2ea;"
	"--grid:#e9edf2;--good:#17693f;--goodbg:#e3f3ea;--warn:#8a4b00;--warnbg:#fdf0dc;"
	"--s0:#3b73b9;--s1:#e2606f;--s2:#1f7a3d;--s3:#b98a00;--s4:#2aa5c9;--s5:#8e3b83;--s6:#a35a2a;--s7:#4b5563;"
	"--s8:#a3abb8}\n"
	"@media (prefers-color-scheme:dark){:root{--bg:#12161d;--card:#1a202a;--ink:#e8ecf2;--soft:#a6b0c0;"
	"--line:#303947;--grid:#28303c;--good:#7fd6a3;--goodbg:#173527;--warn:#f3c07a;--warnbg:#3a2a12;"
	"--s0:#6aa2e8;--s1:#f4828f;--s2:#4fb870;--s3:#dcb33c;--s4:#6fd0ec;--s5:#cf82c4;--s6:#d08a58;--s7:#c3cad6;"
	"--s8:#677386}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,"
	"'Helvetica Neue',Arial,sans-serif;-webkit-text-size-adjust:100%;overflow-wrap:anywhere}\n"
	"main{max-width:1180px;margin:0 auto;padding:28px 20px 40px}\n"
	"h1{font-size:1.85rem;line-height:1.22;margin:0 0 10px;letter-spacing:-.01em}\n"
	"h2{font-size:1.2rem;margin:40px 0 12px}h3{font-size:1rem;margin:0}\n"
	".kind{color:var(--soft);font-size:.9rem;margin:0 0 6px}.lead{font-size:1.08rem;max-width:60em;margin:0 0 20px}\n"
	".card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:16px 18px;margin:0;"
	"min-width:0}\n"
	".grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:16px}\n"
	".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:0 0 16px}\n"
	".tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 16px}\n"
	".tile b{display:block;font-size:1.5rem;line-height:1.25;font-variant-numeric:tabular-nums}\n"
	".tile span{color:var(--soft);font-size:.86rem}.tile.good{background:var(--goodbg);border-color:transparent}"
	".tile.good b{color:var(--good)}\n"
	".warn{background:var(--warnbg);color:var(--warn);border-radius:8px;padding:10px 14px;margin:0 0 16px}\n"
	"figcaption p,.small{color:var(--soft);font-size:.87rem;margin:2px 0 0}figcaption{margin-bottom:10px}\n"
	".fig{display:block;width:100%;max-width:680px;height:auto;margin:0 auto;overflow:visible}\n"
	".fig text{font-size:12.5px;fill:var(--soft)}.fig .bl,.fig .bv{font-size:14px;fill:var(--ink)}"
	".fig .st{font-weight:700;fill:var(--good)}\n"
	".ty{text-anchor:end;dominant-baseline:central}.tx,.tl{text-anchor:middle}.bv{text-anchor:end}\n"
	".gr{stroke:var(--grid);stroke-width:1;fill:none}.ax,.tk{stroke:var(--s8);stroke-width:1;fill:none}"
	".bg{fill:var(--grid)}\n"
	".ln{fill:none;stroke:var(--c);stroke-width:2.2;stroke-linejoin:round}.ar{fill:var(--c)}"
	".bt{fill:var(--c);opacity:.38}\n"
	".d1{stroke-dasharray:7 3}.d2{stroke-dasharray:2.5 2.5}.d3{stroke-dasharray:9 3 2 3}\n"
	".s0{--c:var(--s0)}.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}.s4{--c:var(--s4)}.s5{--c:var(--s5)}"
	".s6{--c:var(--s6)}.s7{--c:var(--s7)}.s8{--c:var(--s8)}\n"
	".key{list-style:none;display:flex;flex-wrap:wrap;gap:2px 16px;margin:0 0 10px;padding:0;font-size:.86rem}"
	".key li{display:flex;align-items:center;gap:6px}.sw{width:24px;height:10px;flex:none}\n"
	".scroll{overflow-x:auto;padding:0}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;"
	"font-size:.85rem}\n"
	"th,td{padding:9px 6px;text-align:right;white-space:nowrap;border-top:1px solid var(--line)}"
	"thead th{color:var(--soft);font-weight:600;font-size:.82rem;line-height:1.25;white-space:normal;border-top:0;"
	"vertical-align:bottom;overflow-wrap:normal}th:first-child,td:first-child{padding-left:16px}th:last-child,td:last-child{"
	"padding-right:16px}\n"
	"th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--card)}"
	"td.l,th.l{text-align:left}td.w{white-space:normal;min-width:14em}tbody th{font-weight:600}\n"
	".paper td{min-width:4.6em}"
	"tr.best th,tr.best td{font-weight:700;color:var(--good)}"
	".tag{font-size:.72rem;font-weight:600;background:var(--goodbg);color:var(--good);border-radius:99px;"
	"padding:2px 8px;margin-left:6px;white-space:nowrap}\n"
	".tabs{display:flex;flex-wrap:wrap;gap:6px}.tabs>input{position:absolute;opacity:0;pointer-events:none}"
	".tabs>label{order:0;padding:7px 15px;border:1px solid var(--line);border-radius:99px;cursor:pointer;"
	"background:var(--card);font-size:.93rem}\n"
	".tabs>input:checked+label{background:var(--ink);color:var(--card);border-color:var(--ink)}"
	".tabs>input:focus-visible+label{outline:3px solid var(--s0);outline-offset:2px}\n"
	".panel{order:1;width:100%;display:none;margin-top:8px}.tabs>input:checked+label+.panel{display:block}\n"
	".defs{display:grid;grid-template-columns:minmax(9em,max-content) 1fr;gap:6px 20px;margin:0}.defs dt{font-weight:600}"
	".defs dd{margin:0;color:var(--soft)}\n"
	"details{margin-top:14px}summary{cursor:pointer}code{font:.88em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"
	"monospace}\n"
	".note{margin-top:8px;max-width:80em}.plots{margin-top:16px}footer{margin-top:36px;padding-top:14px;border-top:1px solid var(--line);color:var(--soft);font-size:.87rem}\n"
	"@media (max-width:600px){main{padding:20px 14px 32px}h1{font-size:1.42rem}.card{padding:14px}.scroll{padding:0}"
	".fig text{font-size:17px}.fig .bl,.fig .bv{font-size:20px}.tiles{grid-template-columns:1fr 1fr;gap:8px}"
	".tile{padding:10px 12px}.tile b{font-size:1.22rem}.defs{grid-template-columns:1fr;gap:0}"
	".paper tbody th{white-space:normal;width:40%;min-width:8em;font-weight:500}.paper th,.paper td{padding:8px 4px}"
	".paper td{min-width:0}.paper table{font-size:.8rem}.paper th:first-child{padding-left:10px}"
	".paper td:last-child,.paper th:last-child{padding-right:10px}"
	".defs dd{margin-bottom:10px}.ln{stroke-width:2.8}}\n"
	"@media print{.panel{display:block}.tabs>label{display:none}.card,.tile{break-inside:avoid}}\n";

void fth_page_begin(struct fth_str *out, const char *title)
{
	fth_str_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
			 "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
	fth_html_text(out, title);
	fth_str_add(out, "</title>\n<style>\n");
	fth_str_add(out, style);
	fth_str_add(out, "</style></head>\n<body><main>\n");
}

void fth_page_end(struct fth_str *out, const char *version, const char *command)
{
	fth_str_add(out, "<footer><p>Made by Farthing");
	if (version) {
		fth_str_addc(out, ' ');
		fth_html_text(out, version);
	}
	fth_str_add(out, ".");
	if (command && *command) {
		fth_str_add(out, " The same figures come from: <code>");
		fth_html_text(out, command);
		fth_str_add(out, "</code>");
	}
	fth_str_add(out, "</p></footer>\n</main></body></html>\n");
}
