package inventory

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
)

const gpuName = "nvidia.com/gpu"

var options = &Options{
	GPUResource: gpuName, TypeLabels: []string{"example.com/gpu", "nvidia.com/gpu.product"},
	Names: map[string]string{"Tesla-T4": "t4"}, Queue: "training", Lender: map[string]string{"serves": "inference"},
}

// server makes a node one of the lender's, with changes.
func server(edits ...func(*corev1.Node)) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Labels["serves"] = "inference"
		for _, edit := range edits {
			edit(n)
		}
	}
}

// node returns a usable node with 8 GPUs, 64 cores and 512 GiB, with changes.
func node(name string, edits ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.memory": "81920", "topology.kubernetes.io/zone": "z1",
	}}}
	n.Status.Allocatable = resources(8, "64", "512Gi")
	n.Status.Capacity = resources(8, "66", "520Gi")
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeMemoryPressure}, {Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for _, edit := range edits {
		edit(n)
	}
	return n
}

func resources(gpus int64, cpus, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		gpuName:               *resource.NewQuantity(gpus, resource.DecimalSI),
		corev1.ResourceCPU:    resource.MustParse(cpus),
		corev1.ResourceMemory: resource.MustParse(memory),
	}
}

func pod(name, on string, gpus int64, cpus, memory string, phase corev1.PodPhase) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: name}}
	p.Spec.NodeName, p.Status.Phase = on, phase
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: resources(gpus, cpus, memory)}}}
	return p
}

func ours(p *corev1.Pod) bool { return p.Name == "ours" }

func taint(key, value string, effect corev1.TaintEffect) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	}
}

func label(key, value string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels[key] = value }
}

func TestRead(t *testing.T) {
	now := metav1.NewTime(time.Unix(1, 0))
	plain := cluster.Node{
		ID: "n", GPUType: "nvidia-a100-sxm4-80gb", GPUMemory: 80 << 30, Rack: "z1",
		Capacity: cluster.Resources{GPUs: 8, CPUs: 64, Memory: 512 << 30},
	}
	with := func(edit func(n *cluster.Node)) *cluster.Node {
		n := plain
		edit(&n)
		return &n
	}
	left := func(gpus int, cpus float64, gib int64) *cluster.Node {
		return with(func(n *cluster.Node) { n.Capacity = cluster.Resources{GPUs: gpus, CPUs: cpus, Memory: gib << 30} })
	}
	for name, c := range map[string]struct {
		edit func(*corev1.Node)
		pods []*corev1.Pod
		want *cluster.Node // nil: none
	}{
		"plain":                     {nil, nil, &plain},
		"cordoned":                  {func(n *corev1.Node) { n.Spec.Unschedulable = true }, nil, nil},
		"going":                     {func(n *corev1.Node) { n.DeletionTimestamp = &now }, nil, nil},
		"not ready":                 {func(n *corev1.Node) { n.Status.Conditions[1].Status = corev1.ConditionFalse }, nil, nil},
		"not heard of":              {func(n *corev1.Node) { n.Status.Conditions[1].Status = corev1.ConditionUnknown }, nil, nil},
		"says nothing":              {func(n *corev1.Node) { n.Status.Conditions = nil }, nil, nil},
		"tainted":                   {taint("x", "", corev1.TaintEffectNoSchedule), nil, nil},
		"tainted, and emptied":      {taint("x", "", corev1.TaintEffectNoExecute), nil, nil},
		"better not":                {taint("x", "", corev1.TaintEffectPreferNoSchedule), nil, &plain},
		"for GPUs only":             {taint(gpuName, "present", corev1.TaintEffectNoSchedule), nil, &plain},
		"lent to us":                {server(func(n *corev1.Node) { _ = Lend(n, "training") }), nil, with(func(n *cluster.Node) { n.Tenure, n.Group = cluster.Loaned, "nvidia-a100-sxm4-80gb-8-loan" })},
		"of the lender":             {server(), nil, nil},
		"of the lender, to others":  {server(func(n *corev1.Node) { _ = Lend(n, "another") }), nil, nil},
		"marked by somebody":        {func(n *corev1.Node) { _ = Lend(n, "training") }, nil, &plain},
		"lent to others":            {func(n *corev1.Node) { _ = Lend(n, "another") }, nil, nil},
		"tainted for others":        {taint(v1alpha1.LoanTaint, "another", corev1.TaintEffectNoSchedule), nil, nil},
		"labelled for others":       {label(v1alpha1.LoanLabel, "another"), nil, nil},
		"a GPU is broken":           {func(n *corev1.Node) { n.Status.Allocatable = resources(7, "64", "512Gi") }, nil, left(7, 64, 512)},
		"no GPUs":                   {func(n *corev1.Node) { delete(n.Status.Allocatable, gpuName) }, nil, nil},
		"says nothing of memory":    {func(n *corev1.Node) { delete(n.Status.Allocatable, "memory") }, nil, left(8, 0, 0)},
		"named type":                {label("nvidia.com/gpu.product", "Tesla-T4"), nil, with(func(n *cluster.Node) { n.GPUType = "t4" })},
		"first label counts":        {label("example.com/gpu", "L4"), nil, with(func(n *cluster.Node) { n.GPUType = "l4" })},
		"no labels":                 {func(n *corev1.Node) { n.Labels = nil }, nil, with(func(n *cluster.Node) { n.GPUType, n.GPUMemory, n.Rack = "gpu", 0, "" })},
		"nonsense in labels":        {func(n *corev1.Node) { n.Labels["nvidia.com/gpu.memory"], n.Labels["example.com/gpu"] = "1e30", "-" }, nil, with(func(n *cluster.Node) { n.GPUType, n.GPUMemory = "gpu", 0 })},
		"rack":                      {label("topology.kubernetes.io/rack", "r7"), nil, with(func(n *cluster.Node) { n.Rack = "r7" })},
		"NVLink domain":             {label("nvidia.com/gpu.clique", "ab.0"), nil, with(func(n *cluster.Node) { n.NVLinkDomain = "ab.0" })},
		"GPUs in time slices":       {label("nvidia.com/gpu.replicas", "4"), nil, nil},
		"GPUs shared by MPS":        {label("nvidia.com/gpu.sharing-strategy", "mps"), nil, nil},
		"in slices, and in use":     {label("nvidia.com/gpu.sharing-strategy", "time-slicing"), []*corev1.Pod{pod("ours", "n", 2, "1", "1Gi", corev1.PodRunning)}, left(2, 64, 512)},
		"GPUs shared by their name": {label("nvidia.com/gpu.product", "Tesla-T4-SHARED"), nil, nil},
		"more GPUs than there are":  {label("nvidia.com/gpu.count", "1"), nil, nil},
		"as many GPUs as there are": {label("nvidia.com/gpu.count", "8"), nil, &plain},
		"GPUs that are whole":       {func(n *corev1.Node) { n.Labels[replicasLabel], n.Labels[sharingLabel] = "1", "none" }, nil, &plain},
		"others have GPUs":          {nil, []*corev1.Pod{pod("a", "n", 2, "8", "64Gi", corev1.PodRunning)}, left(6, 56, 448)},
		"a daemon has CPUs":         {nil, []*corev1.Pod{pod("a", "n", 0, "250m", "1Gi", corev1.PodPending), pod("b", "n", 0, "100m", "0", corev1.PodRunning)}, left(8, 63.65, 511)},
		"others have all GPUs":      {nil, []*corev1.Pod{pod("a", "n", 8, "8", "64Gi", corev1.PodRunning)}, nil},
		"others have all CPUs":      {nil, []*corev1.Pod{pod("a", "n", 0, "64", "64Gi", corev1.PodRunning)}, nil},
		"others have more than all": {nil, []*corev1.Pod{pod("a", "n", 0, "1", "600Gi", corev1.PodRunning)}, nil},
		"ours do not count":         {nil, []*corev1.Pod{pod("ours", "n", 8, "64", "512Gi", corev1.PodRunning)}, &plain},
		"ended": {nil, []*corev1.Pod{
			pod("a", "n", 8, "1", "1Gi", corev1.PodSucceeded), pod("b", "n", 8, "1", "1Gi", corev1.PodFailed),
		}, &plain},
		"elsewhere, or nowhere": {nil, []*corev1.Pod{pod("a", "m", 8, "1", "1Gi", corev1.PodRunning), pod("b", "", 8, "1", "1Gi", corev1.PodPending)}, &plain},
	} {
		t.Run(name, func(t *testing.T) {
			n := node("n")
			if c.edit != nil {
				c.edit(n)
			}
			got := Read([]*corev1.Node{n}, c.pods, ours, options)
			var want []cluster.Node
			if c.want != nil {
				want = []cluster.Node{*c.want}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if _, err := cluster.New(got); err != nil {
				t.Error("no cluster:", err)
			}
		})
	}
}

// On a node that is closed what runs goes on, and nothing comes; on one that is gone nothing is.
func TestRead_closed(t *testing.T) {
	since := time.Unix(1000, 0)
	lost := func(status corev1.ConditionStatus) func(*corev1.Node) {
		return func(n *corev1.Node) {
			n.Status.Conditions[1].Status, n.Status.Conditions[1].LastTransitionTime = status, metav1.NewTime(since)
			taint(corev1.TaintNodeUnreachable, "", corev1.TaintEffectNoExecute)(n)
			taint(corev1.TaintNodeUnreachable, "", corev1.TaintEffectNoSchedule)(n)
		}
	}
	held := []*corev1.Pod{pod("ours", "n", 4, "8", "1Gi", corev1.PodRunning), pod("a", "n", 1, "1", "1Gi", corev1.PodRunning)}
	for _, c := range []struct {
		name string
		edit func(*corev1.Node)
		at   time.Duration // since it is so
		want int           // GPUs; 0: it is not there
	}{
		{"open", func(*corev1.Node) {}, 0, 7},
		{"cordoned", func(n *corev1.Node) { n.Spec.Unschedulable = true }, time.Hour, 4},
		{"tainted", taint("x", "", corev1.TaintEffectNoSchedule), time.Hour, 4},
		{"emptied", taint("x", "", corev1.TaintEffectNoExecute), 0, 0},
		{"fenced", taint(corev1.TaintNodeOutOfService, "nodeshutdown", corev1.TaintEffectNoExecute), 0, 0},
		{"not ready yet", lost(corev1.ConditionFalse), patience - 1, 4},
		{"not heard of yet", lost(corev1.ConditionUnknown), patience - 1, 4},
		{"not heard of for long", lost(corev1.ConditionUnknown), patience, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := *options
			o.Now = since.Add(c.at)
			got := 0
			for _, n := range Read([]*corev1.Node{node("n", c.edit)}, held, ours, &o) {
				got += n.Capacity.GPUs
			}
			if got != c.want {
				t.Errorf("%d GPUs, want %d", got, c.want)
			}
		})
	}
}

func TestRead_selector(t *testing.T) {
	nodes := []*corev1.Node{
		node("c", label("pool", "a")), node("a", label("pool", "a"), label("tier", "x")), node("b", label("pool", "b")), node("d"),
	}
	for want, selector := range map[string]map[string]string{
		"[a b c d]": nil, "[a c]": {"pool": "a"}, "[a]": {"pool": "a", "tier": "x"}, "[]": {"pool": ""},
	} {
		o := *options
		o.Selector = selector
		got := []cluster.NodeID{}
		for _, n := range Read(nodes, nil, ours, &o) {
			got = append(got, n.ID)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%v: got %v, want %s", selector, got, want)
		}
	}
}

// Each change of 1000 nodes and 5000 pods is read anew.
func BenchmarkRead(b *testing.B) {
	var nodes []*corev1.Node
	var all []*corev1.Pod
	for i := range 1000 {
		nodes = append(nodes, node(fmt.Sprintf("node-%04d", i)))
		for k := range 5 {
			all = append(all, pod(fmt.Sprintf("pod-%d", k), nodes[i].Name, 1, "250m", "1Gi", corev1.PodRunning))
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if got := Read(nodes, all, ours, options); len(got) != 1000 {
			b.Fatalf("got %d nodes", len(got))
		}
	}
}

// Nodes whose taints the queue's jobs tolerate, all of them, are used as if they had none.
func TestRead_tolerations(t *testing.T) {
	equal := corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "training", Effect: corev1.TaintEffectNoSchedule}
	exists := corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists}
	for name, c := range map[string]struct {
		edit func(*corev1.Node)
		of   corev1.Toleration
		want bool
	}{
		"its value":      {taint("dedicated", "training", corev1.TaintEffectNoSchedule), equal, true},
		"another value":  {taint("dedicated", "serving", corev1.TaintEffectNoSchedule), equal, false},
		"another effect": {taint("dedicated", "training", corev1.TaintEffectNoExecute), equal, false},
		"another key":    {taint("spot", "training", corev1.TaintEffectNoSchedule), equal, false},
		"any value":      {taint("dedicated", "serving", corev1.TaintEffectNoExecute), exists, true},
		"one of two": {func(n *corev1.Node) {
			taint("dedicated", "training", corev1.TaintEffectNoSchedule)(n)
			taint("spot", "", corev1.TaintEffectNoSchedule)(n)
		}, exists, false},
	} {
		n := node("n")
		c.edit(n)
		o := *options
		o.Tolerations = []corev1.Toleration{c.of}
		if got := Read([]*corev1.Node{n}, nil, ours, &o); (len(got) == 1) != c.want {
			t.Errorf("%s: got %v, want it used: %v", name, got, c.want)
		}
	}
}

// A type has a label if all of its nodes have the same one: else Kueue's flavors cannot be told by it.
func TestLabels(t *testing.T) {
	node := func(key, value string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{key: value}}}
	}
	o := &Options{TypeLabels: []string{"product", "old"}, Names: map[string]string{"A100-40GB": "a100", "A100-80GB": "a100"}}
	all := Labels([]*corev1.Node{
		node("product", "T4"), node("product", "T4"), node("product", "A100-40GB"), node("product", "A100-80GB"), node("product", "A100-40GB"),
		node("old", "V100"), node("other", "x"), node("old", "P4"), node("product", "P4"),
	}, o)
	want := map[cluster.GPUType]map[string]string{"t4": {"product": "T4"}, "a100": nil, "v100": {"old": "V100"}, "gpu": nil, "p4": nil}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
}
