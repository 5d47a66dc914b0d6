#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Spot markets, estimates and the Google importer as a user meets them: what is wrong is said with file and line, and
# where a rule stands instead of an error, the rule holds.
. "$SOURCE/tests/cli/common.sh"
cd "$tmp" || exit 1

cat >catalog.fc <<'EOF'
farthing-catalog 1
type small family=s arch=x86_64 holds=cpu:2,mem:4GiB
type big family=b arch=x86_64 holds=cpu:16,mem:32GiB
offer small zone=a market=on-demand price=0.1
offer big zone=a market=on-demand price=0.6
EOF
printf 'farthing-workload 1\nkind K any=cpu:1,mem:1GiB\n' >mixed.fw
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	echo "job short$n submit=0s estimate=3600s tasks=1xK:600s"
done >>mixed.fw
echo "job long submit=0s estimate=3600s tasks=1xK:36000s" >>mixed.fw

cost() # of the last run, in dollars
{
	python3 -c 'import json; print(json.load(open("out"))["runs"][0]["cost_usd"])'
}

# Estimates. The truth: the long task stands alone. All said to be an hour: one big machine for all, kept for ten hours.
expect 0 compare -q -w mixed.fw -c catalog.fc -p stratus:clearing=false -f json
truth=$(cost)
expect 0 compare -q -w mixed.fw -c catalog.fc -p stratus:clearing=false --estimates exact -f json
[ "$(cost)" = "$truth" ] || fail "exact estimates are not the truth: $(cost), $truth"
expect 0 compare -q -w mixed.fw -c catalog.fc -p stratus:clearing=false --estimates given -f json
told=$(cost)
python3 -c "import sys; sys.exit(not $told > 3 * $truth)" || fail "the given estimates were not told: $told, truth $truth"
# None, or 0, is unknown: then unknown= stands for it, here for all, which is one bin again.
sed 's/ estimate=3600s//' mixed.fw >none.fw
sed 's/ estimate=3600s/ estimate=0s/' mixed.fw >zero.fw
for file in none zero; do
	expect 0 compare -q -w $file.fw -c catalog.fc -p stratus:clearing=false,unknown=3600s --estimates given -f json
	[ "$(cost)" = "$told" ] || fail "$file: $(cost), not $told"
done
for estimate in inf never 1e30s -1s nan; do
	sed "s/^job long submit=0s estimate=3600s/job long submit=0s estimate=$estimate/" mixed.fw >bad.fw
	expect 2 compare -q -w bad.fw -c catalog.fc -p stratus --estimates given
	complains "bad.fw:18: "
	complains "estimate"
done

# Types that the catalog does not have are passed over; a file with no other is an error that names the option.
printf 'epoch,az,instance_type,price\n0,b,small,0.05\n0,b,other,0.01\n' >prices.csv
expect 0 compare -q -w mixed.fw -c catalog.fc --market prices.csv -p hotspot -f json
printf 'epoch,az,instance_type,price\n0,b,other,0.01\n' >other.csv
expect 2 compare -q -w mixed.fw -c catalog.fc --market other.csv -p hotspot
complains "none of its 1 rows is about a type of the catalog"
expect 2 compare -q -w mixed.fw -c catalog.fc --market prices.csv --market-zones c -p hotspot
complains "a zone asked for"
# Zone b has no on-demand price: the bid is the lowest of the type anywhere, 0.1. Just at it the offer is had, above it
# nothing is bought until the price falls.
printf 'epoch,az,instance_type,price\n0,b,small,0.1\n' >at.csv
expect 0 compare -q -w mixed.fw -c catalog.fc --market at.csv -p hotspot:market=spot -f json
printf 'epoch,az,instance_type,price\n0,b,small,0.11\n' >above.csv
expect 3 compare -q -w mixed.fw -c catalog.fc --market above.csv -p hotspot:market=spot --sim horizon=3600s
complains "with 16 jobs left"
printf '600,b,small,0.09\n' >>above.csv
expect 0 compare -q -w mixed.fw -c catalog.fc --market above.csv -p hotspot:market=spot -f json
# What is wrong with a row is said with its line.
for row in '0,b,small,-1:negative' '0,b,small,:missing' '0,,small,1:zone is missing' '0,b,,1:instance type is missing' 'x,b,small,1:epoch' \
	'0,b,small,inf:not a price'; do
	printf 'epoch,az,instance_type,price\n0,b,small,0.05\n%s\n' "${row%:*}" >bad.csv
	expect 2 compare -q -w mixed.fw -c catalog.fc --market bad.csv -p hotspot
	complains "bad.csv:3: "
	complains "${row#*:}"
done

# Workloads like those of repro stratus, to try other policies on.
expect 0 generate --like twosigma --hours 1 --rate 20 --seed 5 -o two.fw
expect 0 generate --like twosigma --hours 1 --rate 20 --seed 5
cmp -s out two.fw || fail "the same seed gave another workload"
expect 0 compare -q -w two.fw -p stratus -f json
i=0
while [ $i -lt 80 ]; do # the first 75 of that trace ran when it began
	echo "$i 2 30 20 40"
	i=$((i + 1))
done >runtimes.tr
expect 0 generate --like google --runtimes runtimes.tr --hours 1 --rate 60 --seed 5
says "job g"
expect 2 generate --like google
complains "--runtimes"
expect 2 generate --like twosigma --runtimes runtimes.tr
complains "--like google"
expect 2 generate --like twosigma --jobs 5
complains "only seed"
{ cat runtimes.tr; echo '80 2 30 x'; } >cut.tr
expect 2 generate --like google --runtimes cut.tr
complains "cut.tr:81: "

# Google's task_events: time, missing info, job, task, machine, event, user, class, priority, cpu, mem, disk, apart.
google() { printf '%s,,%s,0,5,%s,u,0,2,0.1,0.1,,\n' "$1" "$2" "$3"; }
{ google 0 9 0; google 0 9 1; google 1000000 1 0; google 2000000 1 1; google 3000000 2 0; google 602000000 1 4; google 700000000 9 4; } >g.csv
expect 0 import --from google-tasks g.csv
says "job 1 submit=1s"
says "600s"
says "Left%20out%3A%202%20of%203%20jobs"
case $out in *"job 9"*) fail "a job from before the trace was kept" ;; esac
{ google 2000000 1 0; google 1000000 1 1; } >back.csv
expect 2 import --from google-tasks back.csv
complains "back.csv:2: time 1000000 after 2000000"
google 1000000 1 0 | sed 's/,0.1,/,1.5,/' >share.csv
expect 2 import --from google-tasks share.csv
complains "share.csv:1: "
echo 1,2,3 >short.csv
expect 2 import --from google-tasks short.csv
complains "short.csv:1: 3 columns where task_events has 13"
finish
