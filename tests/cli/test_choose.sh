#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Options that choose a part of a file do so in every format, or are refused: none goes unheard.
. "$SOURCE/tests/cli/common.sh"
cd "$tmp" || exit 1
printf 'farthing-workload 1\nkind A any=cpu:1,mem:1GiB\njob a submit=0s tasks=1xA:60s\n' >one.fw

# The bundled catalog: three types are of the family p3.
expect 0 compare -w one.fw -p no-packing --families p3 --format json
says '"types": 3'
expect 2 compare -w one.fw -p no-packing --families nothing
complains "no offer of the wanted families"
expect 2 compare -w one.fw -p no-packing --region nowhere
complains "no offer of the wanted region"
printf 'farthing-catalog 1\ntype t holds=cpu:4,mem:16GiB\noffer t price=1\n' >plain.fc
expect 2 compare -w one.fw -c plain.fc -p no-packing --region us-east-1
complains "names a zone"

# A catalog of our own with zones.
cat >zones.fc <<'X'
farthing-catalog 1
type a.big family=a holds=cpu:4,mem:16GiB
type b.big family=b holds=cpu:4,mem:16GiB
offer a.big zone=us-east-1a price=1
offer a.big zone=us-east-10a price=2
offer b.big zone=us-east-1b price=3
offer b.big zone=us-west-2-lax-1a price=4
X
expect 0 import zones.fc --region us-east-1
[ "$(grep -c '^offer' out)" = 2 ] && says "offer b.big zone=us-east-1b" || fail "not the offers of us-east-1"
expect 0 import zones.fc --region us-west-2
[ "$(grep -c '^type' out)" = 1 ] || fail "a type without an offer stays"
expect 0 import zones.fc --region us-east-1 --families b
[ "$(grep -c '^offer' out)" = 1 ] || fail "not one offer of b in us-east-1"
expect 2 import zones.fc --region eu
complains "zones.fc: no offer of the wanted region"

# Eva's types are of one region, or do not say.
types='"instance_types": {"p3.2xlarge": {"capacity": [1, 8, 61], "num_sockets": 1, "cost": 3.06, "family": "p3",
 "instantiate_delay": 22, "run_worker_delay": 51, "worker_register_delay": 100, "terminate_delay": 1, "launch_cfg": {}, "ssh_user": "u"}}}'
echo "{\"region\": \"us-east-1\", $types" >eva.json
echo "{$types" >nowhere.json
expect 0 import eva.json --region us-east-1 --families p3
expect 2 import eva.json --region us-west-2
complains "it is about us-east-1"
expect 2 import eva.json --families c7i
complains "of the wanted families"
expect 2 import nowhere.json --region us-east-1
complains "does not say"

# Prices beside EC2's types; a plain list knows no regions.
echo '{"InstanceTypes":[{"InstanceType":"m5.large","VCpuInfo":{"DefaultVCpus":2},"MemoryInfo":{"SizeInMiB":8192}}]}' >ec2.json
printf 'type,price\nm5.large,0.096\n' >list.csv
expect 0 import ec2.json --prices list.csv
expect 2 import ec2.json --prices list.csv --region us-east-1
complains "knows no regions"
expect 2 import zones.fc --prices list.csv
complains "prices of its own"
expect 2 compare --prices list.csv
complains "prices of its own"
expect 2 import zones.fc --spot
complains "spot"

# Arrivals that the file tells are not drawn.
printf 'name,cpu_milli,memory_mib,num_gpu,creation_time,deletion_time\np,1000,1024,0,0,60\n' >times.csv
printf 'name,cpu_milli,memory_mib,num_gpu\np,1000,1024,0\n' >none.csv
expect 2 import times.csv --mean-gap 60s
complains "mean gap"
expect 0 import none.csv --mean-gap 60s
expect 2 import none.csv --mean-gap 0s
complains "above 0"
expect 2 compare -w one.fw --mean-gap 60s
complains "mean gap"

# Jobs that fit nowhere are an error, or go.
printf 'farthing-workload 1\nkind A any=cpu:1,mem:1GiB\nkind B any=cpu:9999,mem:1GiB\njob a submit=0s tasks=1xA:60s\njob b submit=1s tasks=1xA:60s,1xB:60s\n' >big.fw
expect 2 compare -w big.fw -p no-packing
complains "big.fw:5: "
for args in "compare -p no-packing" "sim -p no-packing" "plan pack"; do
	expect 0 $args -w big.fw --drop-unfit
	complains "left out 1 of 2 jobs"
done
expect 0 compare -w big.fw -p no-packing --drop-unfit --quiet --format html --journal run.journal
quiet
says "1 of the jobs given was left out"
expect 0 import big.fw --drop-unfit -c zones.fc
[ "$(grep -c '^job' out)" = 1 ] || fail "import keeps a job that fits nowhere"
expect 2 import big.fw --drop-unfit
complains "go together"
expect 2 import big.fw -c zones.fc
printf 'farthing-workload 1\nkind B any=cpu:9999,mem:1GiB\njob b submit=1s tasks=1xB:60s\n' >none.fw
expect 2 plan pack -w none.fw --drop-unfit
complains "no job is left"

# What belongs to a file that was not given, or to another kind of file.
expect 2 compare --interference-format eva-matrix
complains "--interference-format is of no use without --interference"
expect 2 compare --market-start 2024-03-01
complains "without --market"
expect 2 compare --market-zones us-east-1a
complains "without --market"
expect 2 compare --workload-format eva-csv
expect 2 compare --catalog-format eva-types
expect 2 compare --mean-gap 60s
expect 2 import one.fw --families p3
complains "--families does not apply"
expect 2 import zones.fc --mean-gap 60s
complains "--mean-gap does not apply"
finish
