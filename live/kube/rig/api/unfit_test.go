package api

import (
	"fmt"
	"strings"
)

// A spec is an object of ours with what is to be said of its spec.
type spec struct {
	what, kind, name, spec string
	field                  string // in the refusal
}

// many returns n items of a JSON list; %d in the item is its number.
func many(n int, item string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(item, "%d", fmt.Sprint(i)))
	}
	return b.String() + "]"
}

// properties returns n fields of a JSON object, with that value.
func properties(n int, value string) string {
	list := many(n, `"k%d":"`+value+`"`)
	return "{" + list[1:len(list)-1] + "}"
}

func quoted(n int) string { return `"` + strings.Repeat("a", n) + `"` }

func queue(what, body, field string) spec { return spec{what, "Queue", "q", body, field} }

// aGroup is a group of nodes, but for its name.
const aGroup = `"scales":{"apiVersion":"x.io/v1","kind":"Pool","name":"p"},"nodeSelector":{"pool":"p"},"gpuType":"a100","gpus":8,"priceMilliPerHour":1000,"most":4`

// group is a queue with a group of nodes of which one field is another: later keys win.
func group(what, field, in string) spec {
	return queue(what, `{"nodeGroups":[{"name":"g",`+aGroup+`,`+field+`}]}`, in)
}

func plan(what, body, field string) spec {
	return spec{what, "Plan", "q", `{"epoch":1,"round":1` + body + `}`, field}
}

func allocation(what, body, field string) spec {
	return plan(what, `,"allocations":[{"uid":"u","kind":"Job","namespace":"n","name":"j","generation":1,"gpus":1`+body+`}]`, field)
}

func policy(what, body, field string) spec {
	return spec{what, "ClusterPolicy", "default", body, field}
}

// unfit are objects with one thing wrong.
var unfit = []spec{
	queue("unknown mode", `{"mode":"Yolo"}`, "spec.mode"),
	queue("mode in lower case", `{"mode":"resize"}`, "spec.mode"),
	queue("mode with a zero-width space", `{"mode":"Admit\u200b"}`, "spec.mode"),
	queue("mode empty", `{"mode":""}`, "spec.mode"),
	queue("mode is a number", `{"mode":1}`, "spec.mode"),
	queue("a toleration of all taints", `{"tolerations":[{"operator":"Exists"}]}`, "spec.tolerations[0].key"),
	queue("a toleration whose key is none", `{"tolerations":[{"key":"a b"}]}`, "key must be a label key"),
	queue("a toleration with a value of any", `{"tolerations":[{"key":"k","operator":"Exists","value":"v"}]}`, "operator Exists has no value"),
	queue("a toleration by number", `{"tolerations":[{"key":"k","operator":"Gt","value":"1"}]}`, "spec.tolerations[0].operator"),
	queue("a toleration of an unknown effect", `{"tolerations":[{"key":"k","effect":"Never"}]}`, "spec.tolerations[0].effect"),
	queue("17 tolerations", `{"tolerations":`+many(17, `{"key":"k%d"}`)+`}`, "spec.tolerations"),
	{"name of 64 characters", "Queue", strings.Repeat("q", 64), `{}`, "at most 63 characters"},
	{"name of 254 characters", "Queue", strings.Repeat("q", 254), `{}`, "metadata.name"},
	{"name with a zero-width space", "Queue", "q\u200b", `{}`, "metadata.name"},
	{"name from right to left", "Queue", "q\u202eq", `{}`, "metadata.name"},
	{"name with an emoji", "Queue", "q🚀", `{}`, "metadata.name"},
	queue("too many namespaces", `{"namespaces":`+many(257, `{"name":"n%d"}`)+`}`, "spec.namespaces"),
	queue("ten thousand namespaces", `{"namespaces":`+many(10_000, `{"name":"n%d"}`)+`}`, "spec.namespaces"),
	queue("a namespace twice", `{"namespaces":[{"name":"a"},{"name":"a"}]}`, "spec.namespaces[1]"),
	queue("a namespace without a name", `{"namespaces":[{"weight":1}]}`, "spec.namespaces[0].name"),
	queue("a namespace in capitals", `{"namespaces":[{"name":"Team"}]}`, "spec.namespaces[0].name"),
	queue("a namespace with a line", `{"namespaces":[{"name":"a\nb"}]}`, "spec.namespaces[0].name"),
	queue("a namespace with a line at its end", `{"namespaces":[{"name":"a\n"}]}`, "spec.namespaces[0].name"),
	queue("a namespace from right to left", `{"namespaces":[{"name":"a\u202eb"}]}`, "spec.namespaces[0].name"),
	queue("a namespace of 64 characters", `{"namespaces":[{"name":`+quoted(64)+`}]}`, "spec.namespaces[0].name"),
	queue("weight 0", `{"namespaces":[{"name":"a","weight":0}]}`, "spec.namespaces[0].weight"),
	queue("weight -1", `{"namespaces":[{"name":"a","weight":-1}]}`, "spec.namespaces[0].weight"),
	queue("weight 1001", `{"namespaces":[{"name":"a","weight":1001}]}`, "spec.namespaces[0].weight"),
	queue("weight beyond 32 bits", `{"namespaces":[{"name":"a","weight":4294967297}]}`, "spec.namespaces[0].weight"),
	queue("weight 1.5", `{"namespaces":[{"name":"a","weight":1.5}]}`, "spec.namespaces[0].weight"),
	queue("weight is text", `{"namespaces":[{"name":"a","weight":"1"}]}`, "spec.namespaces[0].weight"),
	queue("too many node labels", `{"nodeSelector":`+properties(17, "v")+`}`, "spec.nodeSelector"),
	queue("a long node label", `{"nodeSelector":{"k":`+quoted(64)+`}}`, "spec.nodeSelector"),
	queue("a long key of a node label", `{"nodeSelector":{`+quoted(318)+`:"v"}}`, "spec.nodeSelector"),
	queue("a key that no node label can have", `{"nodeSelector":{"a/b/c":"v"}}`, "spec.nodeSelector"),
	queue("an empty key of a node label", `{"nodeSelector":{"":"v"}}`, "spec.nodeSelector"),
	queue("policy in capitals", `{"policy":{"name":"Sia"}}`, "spec.policy.name"),
	queue("policy with a path", `{"policy":{"name":"../sia"}}`, "spec.policy.name"),
	queue("long policy", `{"policy":{"name":`+quoted(33)+`}}`, "spec.policy.name"),
	queue("empty policy", `{"policy":{"name":""}}`, "spec.policy.name"),
	queue("too many settings", `{"policy":{"settings":`+properties(33, "v")+`}}`, "spec.policy.settings"),
	queue("long setting", `{"policy":{"settings":{"k":`+quoted(65)+`}}}`, "spec.policy.settings"),
	queue("setting is a number", `{"policy":{"settings":{"k":0.5}}}`, "spec.policy.settings.k"),
	queue("round 0s", `{"round":"0s"}`, "a round takes 1s to 1h"),
	queue("round 999ms", `{"round":"999ms"}`, "a round takes 1s to 1h"),
	queue("negative round", `{"round":"-5s"}`, "a round takes 1s to 1h"),
	queue("round of more than an hour", `{"round":"1h1s"}`, "a round takes 1s to 1h"),
	queue("round without a unit", `{"round":"60"}`, "spec.round"),
	queue("round is a number", `{"round":60}`, "spec.round"),
	queue("round beyond 64 bits", `{"round":"9999999999999h"}`, "spec.round"),
	queue("round is long", `{"round":"`+strings.Repeat("1", 32)+`s"}`, "spec.round"),
	queue("round is empty", `{"round":""}`, "spec.round"),
	queue("loans of nobody", `{"loans":{}}`, "spec.loans.nodeSelector"),
	queue("loans of no labels", `{"loans":{"nodeSelector":{}}}`, "spec.loans.nodeSelector"),
	queue("loans of too many labels", `{"loans":{"nodeSelector":`+properties(17, "v")+`}}`, "spec.loans.nodeSelector"),
	queue("loans of a key that no label can have", `{"loans":{"nodeSelector":{"a/b/c":"v"}}}`, "spec.loans.nodeSelector"),
	queue("loans of a long label", `{"loans":{"nodeSelector":{"k":`+quoted(64)+`}}}`, "spec.loans.nodeSelector"),
	queue("headroom above all", `{"loans":{"nodeSelector":{"k":"v"},"headroomPercent":101}}`, "spec.loans.headroomPercent"),
	queue("negative headroom", `{"loans":{"nodeSelector":{"k":"v"},"headroomPercent":-1}}`, "spec.loans.headroomPercent"),
	queue("no grace", `{"loans":{"nodeSelector":{"k":"v"},"graceSeconds":0}}`, "spec.loans.graceSeconds"),
	queue("grace beyond a day", `{"loans":{"nodeSelector":{"k":"v"},"graceSeconds":86401}}`, "spec.loans.graceSeconds"),
	queue("budget 0", `{"budget":{"milliPerHour":0}}`, "spec.budget.milliPerHour"),
	queue("negative budget", `{"budget":{"milliPerHour":-1}}`, "spec.budget.milliPerHour"),
	queue("huge budget", `{"budget":{"milliPerHour":1000000000001}}`, "spec.budget.milliPerHour"),
	queue("budget beyond 64 bits", `{"budget":{"milliPerHour":1e300}}`, "spec.budget.milliPerHour"),
	queue("budget with a fraction", `{"budget":{"milliPerHour":1.5}}`, "spec.budget.milliPerHour"),
	queue("budget of nothing", `{"budget":{}}`, "spec.budget.milliPerHour"),
	queue("a group without a name", `{"nodeGroups":[{`+aGroup+`}]}`, "spec.nodeGroups[0].name"),
	queue("a group twice", `{"nodeGroups":[{"name":"g",`+aGroup+`},{"name":"g",`+aGroup+`}]}`, "spec.nodeGroups[1]"),
	queue("a group in capitals", `{"nodeGroups":[{"name":"G",`+aGroup+`}]}`, "spec.nodeGroups[0].name"),
	queue("too many groups", `{"nodeGroups":`+many(33, `{"name":"g%d",`+aGroup+`}`)+`}`, "spec.nodeGroups"),
	group("no nodes to be had", `"most":0`, "spec.nodeGroups[0].most"),
	group("too many nodes to be had", `"most":10001`, "spec.nodeGroups[0].most"),
	group("no GPUs", `"gpus":0`, "spec.nodeGroups[0].gpus"),
	group("nodes for nothing", `"priceMilliPerHour":0`, "spec.nodeGroups[0].priceMilliPerHour"),
	group("price with a fraction", `"priceMilliPerHour":0.5`, "spec.nodeGroups[0].priceMilliPerHour"),
	group("a type in capitals", `"gpuType":"A100"`, "spec.nodeGroups[0].gpuType"),
	group("nodes that nothing tells apart", `"nodeSelector":{}`, "spec.nodeGroups[0].nodeSelector"),
	group("a key that no node label can have", `"nodeSelector":{"a/b/c":"v"}`, "spec.nodeGroups[0].nodeSelector"),
	group("CPUs and no memory", `"milliCPUs":1000`, "both given, or neither"),
	group("memory and no CPUs", `"memoryBytes":1000`, "both given, or neither"),
	group("an order that takes no time", `"startWithin":"0s"`, "an order may take 1s to 24h"),
	group("a scale of nothing", `"scales":{}`, "spec.nodeGroups[0].scales"),
	group("a scale of a core object", `"scales":{"apiVersion":"v1","kind":"Pool","name":"p"}`, "spec.nodeGroups[0].scales.apiVersion"),
	group("a scale of no kind", `"scales":{"apiVersion":"x.io/v1","kind":"pool","name":"p"}`, "spec.nodeGroups[0].scales.kind"),
	queue("unknown way to resize", `{"defaults":{"resize":"Maybe"}}`, "spec.defaults.resize"),
	queue("negative limit of GPUs", `{"limits":{"maxGPUs":-1}}`, "spec.limits.maxGPUs"),
	queue("too large limit of GPUs", `{"limits":{"maxGPUs":100001}}`, "spec.limits.maxGPUs"),
	queue("negative quota of jobs", `{"namespaces":[{"name":"a","maxJobs":-1}]}`, "spec.namespaces[0].maxJobs"),
	queue("negative most GPUs of a namespace", `{"namespaces":[{"name":"a","maxGPUs":-1}]}`, "spec.namespaces[0].maxGPUs"),
	queue("too large most GPUs of a namespace", `{"namespaces":[{"name":"a","maxGPUs":100001}]}`, "spec.namespaces[0].maxGPUs"),
	queue("too large quota of jobs", `{"namespaces":[{"name":"a","maxJobs":10001}]}`, "spec.namespaces[0].maxJobs"),
	queue("negative most GPUs", `{"defaults":{"maxGPUs":-1}}`, "spec.defaults.maxGPUs"),
	queue("too large most GPUs", `{"defaults":{"maxGPUs":100001}}`, "spec.defaults.maxGPUs"),
	queue("spec is a list", `[]`, "spec"),

	{"another name", "ClusterPolicy", "mine", `{}`, "its name is default"},
	policy("no GPU resource", `{"gpuResource":""}`, "spec.gpuResource"),
	policy("GPU resource of 318 characters", `{"gpuResource":`+quoted(318)+`}`, "spec.gpuResource"),
	policy("GPU resource with a blank", `{"gpuResource":"nvidia.com/ gpu"}`, "spec.gpuResource"),
	policy("no type labels", `{"gpuTypeLabels":[]}`, "spec.gpuTypeLabels"),
	policy("too many type labels", `{"gpuTypeLabels":`+many(17, `"l%d"`)+`}`, "spec.gpuTypeLabels"),
	policy("empty type label", `{"gpuTypeLabels":[""]}`, "spec.gpuTypeLabels[0]"),
	policy("type label that no node has", `{"gpuTypeLabels":["a b"]}`, "spec.gpuTypeLabels[0]"),
	policy("too many types", `{"gpuTypes":`+many(65, `{"product":"p%d","name":"n%d"}`)+`}`, "spec.gpuTypes"),
	policy("a product twice", `{"gpuTypes":[{"product":"p","name":"a"},{"product":"p","name":"b"}]}`, "spec.gpuTypes[1]"),
	policy("a type in capitals", `{"gpuTypes":[{"product":"p","name":"A100"}]}`, "spec.gpuTypes[0].name"),
	policy("a type without a name", `{"gpuTypes":[{"product":"p"}]}`, "spec.gpuTypes[0].name"),
	policy("a type with an empty product", `{"gpuTypes":[{"product":"","name":"n"}]}`, "spec.gpuTypes[0].product"),
	policy("paused is text", `{"paused":"yes"}`, "spec.paused"),

	{"no epoch", "Plan", "q", `{"round":1}`, "spec.epoch"},
	{"no round", "Plan", "q", `{"epoch":1}`, "spec.round"},
	{"no spec", "Plan", "q", `null`, "spec"},
	plan("a planned group twice", `,"nodeGroups":[{"name":"g","nodes":1},{"name":"g","nodes":1}]`, "spec.nodeGroups[1]"),
	plan("fewer than no nodes", `,"nodeGroups":[{"name":"g","nodes":-1}]`, "spec.nodeGroups[0].nodes"),
	{"negative epoch", "Plan", "q", `{"epoch":-1,"round":1}`, "spec.epoch"},
	{"epoch beyond 64 bits", "Plan", "q", `{"epoch":1e19,"round":1}`, "spec.epoch"},
	{"epoch that none can follow", "Plan", "q", `{"epoch":9223372036854775807,"round":1}`, "spec.epoch"},
	{"round that none can follow", "Plan", "q", `{"epoch":1,"round":9223372036854775807}`, "spec.round"},
	{"epoch with a fraction", "Plan", "q", `{"epoch":1.5,"round":1}`, "spec.epoch"},
	{"negative round", "Plan", "q", `{"epoch":1,"round":-1}`, "spec.round"},
	plan("time is text", `,"time":"yesterday"`, "spec.time"),
	plan("long leader", `,"leader":`+quoted(254), "spec.leader"),
	plan("long digest", `,"inputs":`+quoted(65), "spec.inputs"),
	plan("too many prices", `,"prices":`+many(65, `{"gpuType":"t","milli":1}`), "spec.prices"),
	plan("price with a fraction", `,"prices":[{"gpuType":"t","milli":0.5}]`, "spec.prices[0].milli"),
	plan("too many allocations", `,"allocations":`+many(20_001, `{"uid":"%d","kind":"J","namespace":"n","name":"j","generation":1,"gpus":1}`), "spec.allocations"),
	plan("a job without a uid", `,"allocations":[{"kind":"Job","namespace":"n","name":"j","generation":1,"gpus":1}]`, "spec.allocations[0].uid"),
	plan("a job with an empty uid", `,"allocations":[{"uid":"","kind":"Job","namespace":"n","name":"j","generation":1,"gpus":1}]`, "spec.allocations[0].uid"),
	plan("a node lent twice", `,"loans":`+many(2, `{"name":"n","group":"g"}`), "spec.loans[1]"),
	plan("a loan without a node", `,"loans":[{"name":"","group":"g"}]`, "spec.loans[0].name"),
	plan("a loan without a group", `,"loans":[{"name":"n"}]`, "spec.loans[0].group"),
	plan("too many loans", `,"loans":`+many(10_001, `{"name":"n%d","group":"g"}`), "spec.loans"),
	plan("negative GPUs", `,"allocations":[{"uid":"u","kind":"Job","namespace":"n","name":"j","generation":1,"gpus":-1}]`, "spec.allocations[0].gpus"),
	plan("a million and one GPUs", `,"allocations":[{"uid":"u","kind":"Job","namespace":"n","name":"j","generation":1,"gpus":1000001}]`, "spec.allocations[0].gpus"),
	plan("negative generation", `,"allocations":[{"uid":"u","kind":"Job","namespace":"n","name":"j","generation":-1,"gpus":1}]`, "spec.allocations[0].generation"),
	allocation("negative CPUs", `,"milliCPUs":-1`, "spec.allocations[0].milliCPUs"),
	allocation("CPUs beyond all clusters", `,"milliCPUs":9223372036854775807`, "spec.allocations[0].milliCPUs"),
	allocation("memory beyond all clusters", `,"memoryBytes":9223372036854775807`, "spec.allocations[0].memoryBytes"),
	allocation("negative memory", `,"memoryBytes":-1`, "spec.allocations[0].memoryBytes"),
	allocation("long message", `,"message":`+quoted(1025), "spec.allocations[0].message"),
	allocation("too many nodes", `,"nodes":`+many(10_001, `{"name":"n%d","gpus":1}`), "spec.allocations[0].nodes"),
	allocation("no GPUs of a node", `,"nodes":[{"name":"n","gpus":0}]`, "spec.allocations[0].nodes[0].gpus"),
	allocation("1025 GPUs of a node", `,"nodes":[{"name":"n","gpus":1025}]`, "spec.allocations[0].nodes[0].gpus"),
	allocation("a node of 254 characters", `,"nodes":[{"name":`+quoted(254)+`,"gpus":1}]`, "spec.allocations[0].nodes[0].name"),
	allocation("batch of nothing", `,"batch":{"local":0}`, "spec.allocations[0].batch.local"),
}

// fit are objects at the limits.
var fit = []spec{
	queue("nothing said", `{}`, ""),
	{"name of 63 characters", "Queue", strings.Repeat("q", 63), `{}`, ""},
	queue("256 namespaces", `{"namespaces":`+many(256, `{"name":"n%d","weight":1000}`)+`}`, ""),
	queue("shortest round", `{"round":"1s"}`, ""),
	queue("longest round", `{"round":"1h"}`, ""),
	queue("loans", `{"loans":{"nodeSelector":{"k":""},"headroomPercent":0,"graceSeconds":1}}`, ""),
	queue("largest loans", `{"loans":{"nodeSelector":`+properties(16, strings.Repeat("v", 63))+`,"headroomPercent":100,"graceSeconds":86400}}`, ""),
	queue("16 tolerations", `{"tolerations":`+many(16, `{"key":"example.com/k%d","operator":"Exists","effect":"NoExecute"}`)+`}`, ""),
	queue("largest budget", `{"budget":{"milliPerHour":1000000000000}}`, ""),
	queue("16 node labels", `{"nodeSelector":`+properties(16, strings.Repeat("v", 63))+`}`, ""),
	queue("longest node label", `{"nodeSelector":{"`+strings.Repeat("a", 63)+"/"+strings.Repeat("b", 63)+`":""}}`, ""),
	queue("32 settings", `{"policy":{"settings":`+properties(32, strings.Repeat("v", 64))+`}}`, ""),
	policy("nothing said", `{}`, ""),
	policy("64 types", `{"gpuTypes":`+many(64, `{"product":"p%d","name":"n%d"}`)+`}`, ""),
	policy("another GPU", `{"gpuResource":"amd.com/gpu","gpuTypeLabels":["amd.com/gpu.product-name","gpu"]}`, ""),
	plan("20000 waiting jobs", `,"allocations":`+many(20_000, `{"uid":"%d","kind":"J","namespace":"n","name":"j","generation":1,"gpus":0}`), ""),
	allocation("all GPUs", `,"gpuType":"h100","nodes":[{"name":"n","gpus":1024}],"batch":{"local":1},"milliCPUs":1000000000000,"memoryBytes":9000000000000000`, ""),
}
