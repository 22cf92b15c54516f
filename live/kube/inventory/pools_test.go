package inventory

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/model/cluster"
)

// waiting returns a pod of others for which there is no room, the older the earlier its name.
func waiting(name string, gpus int64, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := pod(name, "", gpus, "1", "1Gi", corev1.PodPending)
	p.UID = types.UID(name)
	p.CreationTimestamp = metav1.NewTime(time.Unix(int64(name[0]), 0))
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func selects(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{key: value} }
}

// affine makes a pod require a label to have, or not to have, a value.
func affine(key string, op corev1.NodeSelectorOperator, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: []string{value}}}}},
		}}}
	}
}

// Four servers of eight GPUs, s0 to s3, of which those that are named are on loan.
func TestPools(t *testing.T) {
	lend := func(n *corev1.Node) { _ = Lend(n, "training") }
	for _, c := range []struct {
		name     string
		on       string // names of servers on loan, with spaces between
		edits    map[string]func(*corev1.Node)
		pods     []*corev1.Pod
		headroom float64
		want     string // lent, spare, reclaim, those that are lent next, pods that are to come for each that is asked back
	}{
		{"all idle", "", nil, nil, 0, "lent 0, spare 4 of [s0 s1 s2 s3], reclaim 0 []"},
		{"a headroom is a whole server", "", nil, nil, 0.02, "lent 0, spare 3 of [s0 s1 s2 s3], reclaim 0 []"},
		{"the headroom is of all that idle", "s0 s1 s2", nil, nil, 0.02, "lent 3, spare 0 of [s3], reclaim 0 []"},
		{"two are lent", "s0 s2", nil, nil, 0, "lent 2, spare 2 of [s1 s3], reclaim 0 []"},
		{"the owner uses one in part", "", nil, []*corev1.Pod{pod("a", "s1", 1, "1", "1Gi", corev1.PodRunning)}, 0, "lent 0, spare 3 of [s0 s2 s3], reclaim 0 []"},
		{"pods without GPUs, that ended and of ours are no use", "", nil, []*corev1.Pod{
			pod("a", "s1", 0, "1", "1Gi", corev1.PodRunning), pod("b", "s1", 8, "1", "1Gi", corev1.PodSucceeded), pod("ours", "s1", 8, "1", "1Gi", corev1.PodRunning),
		}, 0, "lent 0, spare 4 of [s0 s1 s2 s3], reclaim 0 []"},
		{"closed, and lent to others", "", map[string]func(*corev1.Node){
			"s0": func(n *corev1.Node) { n.Spec.Unschedulable = true },
			"s1": func(n *corev1.Node) { _ = Lend(n, "another") },
			"s2": taint("x", "", corev1.TaintEffectNoSchedule),
		}, nil, 0, "lent 0, spare 1 of [s3], reclaim 0 []"},
		{"one comes back", "s0", map[string]func(*corev1.Node){"s0": lend, "s1": lend}, nil, 0, "lent 1, spare 2 of [s2 s3], reclaim 0 []"},
		{"a pod that waits is given an idle one", "s0", nil, []*corev1.Pod{waiting("a", 8)}, 0, "lent 1, spare 2 of [s2 s3], reclaim 0 []"},
		{"or one that comes back", "s0 s2 s3", map[string]func(*corev1.Node){"s1": lend}, []*corev1.Pod{waiting("a", 8)}, 0, "lent 3, spare 0 of [], reclaim 0 []"},
		{"what is too much is asked back", "s0 s1 s2", nil, []*corev1.Pod{waiting("a", 8), waiting("b", 8), waiting("c", 8)}, 0, "lent 3, spare 0 of [], reclaim 2 [[b] [c]]"},
		{"small ones share", "s0 s1 s2 s3", nil, []*corev1.Pod{waiting("a", 3), waiting("b", 6), waiting("c", 5), waiting("d", 2)}, 0, "lent 4, spare 0 of [], reclaim 2 [[a c] [b d]]"},
		{"no more than are lent", "s0", nil, []*corev1.Pod{waiting("a", 8), waiting("b", 8), waiting("c", 8), waiting("d", 8), waiting("e", 8)}, 0, "lent 1, spare 0 of [], reclaim 1 [[d]]"},
		{"those that no server helps do not count", "s0 s1 s2 s3", nil, []*corev1.Pod{
			waiting("a", 9), waiting("b", 8, selects("serves", "others")), waiting("c", 8, affine("serves", corev1.NodeSelectorOpNotIn, "inference")), waiting("ours", 8),
			waiting("d", 8, func(p *corev1.Pod) { p.Status.Conditions[0].Reason = corev1.PodReasonSchedulingGated }),
			waiting("e", 8, func(p *corev1.Pod) { p.Status.Conditions = nil }),
			waiting("f", 8, func(p *corev1.Pod) { p.Status.NominatedNodeName = "elsewhere" }),
			waiting("g", 8, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }),
			waiting("h", 8, affine("no such operator", "", "")),
		}, 0, "lent 4, spare 0 of [], reclaim 0 []"},
		{"those that ask for them do", "s0 s1 s2 s3", nil, []*corev1.Pod{
			waiting("a", 8, selects("serves", "inference")), waiting("b", 8, affine("serves", corev1.NodeSelectorOpIn, "inference")),
		}, 0, "lent 4, spare 0 of [], reclaim 2 [[a] [b]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := stands(t, c.on, c.edits, c.pods, c.headroom); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// stands returns how it stands with four servers of one group.
func stands(t *testing.T, names string, edits map[string]func(*corev1.Node), all []*corev1.Pod, headroom float64) string {
	t.Helper()
	var nodes []*corev1.Node
	for i := range 4 {
		name := fmt.Sprint("s", i)
		n := node(name, server())
		if edit := edits[name]; edit != nil {
			edit(n)
		}
		nodes = append(nodes, n)
	}
	on := make(map[cluster.NodeID]cluster.Group)
	for name := range strings.FieldsSeq(names) {
		on[cluster.NodeID(name)] = "nvidia-a100-sxm4-80gb-8-loan"
	}
	l := Survey(append(nodes, node("own")), all, ours, options)
	pools := l.Pools(on, headroom)
	if len(pools) != 1 || pools[0].Nodes != 4 || pools[0].Node.Capacity.GPUs != 8 {
		t.Fatalf("%d pools, want one of four servers: %v", len(pools), pools)
	}
	p := &pools[0]
	next := []cluster.NodeID{}
	for _, s := range p.Idle {
		next = append(next, s.ID)
	}
	if n := len(p.Next(9)); n != p.Spare {
		t.Errorf("%d are lent where 9 are wanted, want %d", n, p.Spare)
	}
	return fmt.Sprintf("lent %d, spare %d of %v, reclaim %d %v", p.Lent, p.Spare, next, p.Reclaim, p.Asked)
}

// Groups are by type and size; a server on loan that has lost a GPU stays in the group of the
// plan; a pod that may be on servers of two groups asks for one.
func TestPools_groups(t *testing.T) {
	t4 := label("nvidia.com/gpu.product", "Tesla-T4")
	nodes := []*corev1.Node{
		node("a", server(t4)), node("b", server(t4), func(n *corev1.Node) { n.Status.Allocatable = resources(7, "64", "512Gi") }),
		node("c", server()), node("d", server(t4), func(n *corev1.Node) { n.Status.Allocatable = resources(7, "64", "512Gi") }),
	}
	all := []*corev1.Pod{pod("x", "d", 7, "1", "1Gi", corev1.PodRunning), waiting("a", 8)}
	on := map[cluster.NodeID]cluster.Group{"a": "t4-8-loan", "b": "t4-8-loan", "c": "nvidia-a100-sxm4-80gb-8-loan"}
	got := ""
	l := Survey(nodes, all, ours, options)
	for _, p := range l.Pools(on, 0) {
		got += fmt.Sprintf("%s: %d nodes, %d lent, %d asked back, load %.2f; ", p.Group, p.Nodes, p.Lent, p.Reclaim, p.Load)
	}
	if want := "t4-8-loan: 2 nodes, 2 lent, 1 asked back, load 0.00; nvidia-a100-sxm4-80gb-8-loan: 1 nodes, 1 lent, 0 asked back, load 0.00; t4-7-loan: 1 nodes, 0 lent, 0 asked back, load 1.00; "; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if none := Survey(nodes, all, ours, &Options{}); len(none.Servers)+len(none.Wants)+len(none.Pools(nil, 0)) > 0 {
		t.Errorf("%v of a queue without a lender, want nothing", none)
	}
}
