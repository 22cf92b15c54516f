package observe

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// eightNodes returns an observation of a0 to a3 with 8 A100, of h0 and h1 with 8 H100, and of a node without GPUs with
// a taint. Node a3 has the label pool=big.
func eightNodes(t *testing.T) (*Observer, *Observation) {
	t.Helper()
	twin := kubetest.New()
	for _, name := range []string{"a0", "a1", "a2", "a3", "h0", "h1"} {
		twin.AddNode(name, 8, map[byte]string{'a': "a100", 'h': "h100"}[name[0]])
	}
	n := twin.Node("a3")
	n.Labels["pool"] = "big"
	twin.Update(n)
	twin.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "cpu", Labels: map[string]string{"pool": "cpu"}}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "cpu-only", Effect: corev1.TaintEffectNoSchedule}}}})
	ob := observer(twin, v1alpha1.Resize)
	s, err := ob.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ob, s
}

// placed returns a job of 8 workers with 8 GPUs and roles.
func placed(workers, gpus int, roles ...jobadapter.Role) *jobadapter.Job {
	return &jobadapter.Job{
		Workers: workers, PerWorker: cluster.Resources{GPUs: gpus}, Roles: roles,
		Spec: &job.Spec{GPUs: workers * gpus, MinGPUs: workers * gpus},
	}
}

func selecting(name string, pods, gpus int, pool string) jobadapter.Role {
	r := jobadapter.Role{Name: name, Pods: pods, GPUs: gpus}
	r.Spec.NodeSelector = map[string]string{"pool": pool}
	return r
}

// A job is planned only on types whose nodes have room for each of its roles, and not at all while a role has none.
func TestTypesFor(t *testing.T) {
	ob, s := eightNodes(t)
	driver := selecting("driver", 1, 0, "cpu")
	driver.Spec.Tolerations = []corev1.Toleration{{Key: "cpu-only", Operator: corev1.TolerationOpExists}}
	apart := jobadapter.Role{Pods: 3, GPUs: 4, Apart: true}
	elastic := placed(2, 8, selecting("", 2, 8, "big"))
	elastic.Spec.MinGPUs = 8
	for name, c := range map[string]struct {
		job   *jobadapter.Job
		types string
		why   string
	}{
		"a leader on the only such node":   {placed(2, 8, selecting("leader", 1, 8, "big")), "a100", ""},
		"a leader on a node that is none":  {placed(2, 8, selecting("leader", 1, 8, "huge")), "", `room for 0 pods, want 1 (its pods of "leader": nodeSelector pool=huge)`},
		"more pods than such nodes hold":   {placed(2, 8, selecting("", 2, 8, "big")), "", "room for 1 pod, want 2"},
		"the fewest workers have room":     {elastic, "a100", ""},
		"a driver that tolerates a taint":  {placed(2, 8, driver), "", ""},
		"a driver that does not":           {placed(2, 8, selecting("driver", 1, 0, "cpu")), "", `no node accepts its pods of "driver": nodeSelector pool=cpu`},
		"two that would share a node":      {placed(3, 4, apart), "", "a node has room for several pods"},
		"two that each take a node":        {placed(2, 8, jobadapter.Role{Pods: 2, GPUs: 8, Apart: true}), "", ""},
		"types of which it can use others": {&jobadapter.Job{Workers: 1, Roles: []jobadapter.Role{selecting("", 1, 8, "big")}, Spec: &job.Spec{GPUs: 8, MinGPUs: 8, GPUTypes: []cluster.GPUType{"v100"}}}, "", ""},
	} {
		types, why := ob.typesFor(s, c.job)
		var got []string
		for _, t := range types {
			got = append(got, string(t))
		}
		if strings.Join(got, " ") != c.types || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: types %v, why %q; want %q and %q", name, got, why, c.types, c.why)
		}
	}
}

// A placement is rejected if kube-scheduler would reject it for one of the roles.
func TestFits(t *testing.T) {
	ob, s := eightNodes(t)
	at := func(nodes ...string) (p cluster.Placement) {
		for _, n := range nodes {
			p = append(p, cluster.Share{Node: cluster.NodeID(n), Resources: cluster.Resources{GPUs: 8}})
		}
		return p
	}
	apart := jobadapter.Role{Pods: 2, GPUs: 4, Apart: true}
	for name, c := range map[string]struct {
		job  *jobadapter.Job
		at   cluster.Placement
		fits bool
	}{
		"with the leader's node":            {placed(2, 8, selecting("leader", 1, 8, "big")), at("a0", "a3"), true},
		"without the leader's node":         {placed(2, 8, selecting("leader", 1, 8, "big")), at("a0", "a1"), false},
		"two roles that need the same node": {placed(2, 8, selecting("leader", 1, 8, "big"), selecting("second", 1, 8, "big")), at("a0", "a3"), false},
		"all workers of a Job there":        {placed(1, 8, selecting("", 1, 8, "big")), at("a3"), true},
		"a worker of a Job elsewhere":       {placed(2, 8, selecting("", 2, 8, "big")), at("a3", "a0"), false},
		"two that exclude each other":       {placed(2, 4, apart), at("a0"), false},
	} {
		if err := ob.Fits(s, c.job, c.at); (err == nil) != c.fits {
			t.Errorf("%s: %v, want that it fits: %v", name, err, c.fits)
		}
	}
	spread := cluster.Placement{{Node: "a0", Resources: cluster.Resources{GPUs: 4}}, {Node: "a1", Resources: cluster.Resources{GPUs: 4}}}
	if err := ob.Fits(s, placed(2, 4, apart), spread); err != nil {
		t.Errorf("two that exclude each other on two nodes: %v, want that they fit", err)
	}
}

// The parts of a job name the nodes that accept its pods, if these are some nodes of a GPU type and not all.
func TestPartsFor(t *testing.T) {
	ob, s := eightNodes(t)
	whole := jobadapter.Role{Pods: 1, GPUs: 8, Key: "whole"}
	whole.Spec.NodeSelector = map[string]string{"nvidia.com/gpu.product": "a100"}
	for name, c := range map[string]struct {
		job  *jobadapter.Job
		want string
	}{
		"all workers":               {placed(1, 8, selecting("", 1, 8, "big")), "[{0 [a3]}]"},
		"a leader of two":           {placed(2, 8, selecting("leader", 1, 8, "big")), "[{8 [a3]} {8 [a0 a1 a2 a3 h0 h1]}]"},
		"a driver without GPUs":     {placed(2, 8, selecting("driver", 1, 0, "cpu")), "[]"},
		"a rule between pods":       {placed(2, 8, jobadapter.Role{Pods: 2, GPUs: 8, Apart: true}), "[]"},
		"no node":                   {placed(1, 8, selecting("", 1, 8, "huge")), "[]"},
		"all nodes of one GPU type": {placed(1, 8, whole), "[]"},
	} {
		if got := fmt.Sprint(ob.partsFor(s, c.job, nil)); got != c.want {
			t.Errorf("%s: parts %s, want %s", name, got, c.want)
		}
		ob.nodes = make(map[string][]cluster.NodeID)
	}
}
