package kube

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

func letting() jobstate.Options {
	o := options(v1alpha1.Resize)
	o.Queue.Spec.NodeGroups = []v1alpha1.NodeGroup{{
		Name: "spare", Scales: v1alpha1.ScaleTarget{APIVersion: "pools.example.com/v1", Kind: "Pool", Name: "pool"},
		NodeSelector: map[string]string{kubetest.PoolLabel: "pool"}, GPUType: "a100", GPUs: 4, MilliCPUs: 64000, MemoryBytes: 512 << 30,
		PriceMilliPerHour: 8000, Most: 4, StartWithin: &metav1.Duration{Duration: 10 * time.Minute},
	}}
	o.Nodes.Groups = o.Queue.Spec.NodeGroups
	return o
}

// A tenant is a backend of a twin with one node that is owned and a pool.
type tenant struct {
	*testing.T
	twin *kubetest.Cluster
	w    *Backend
	pool *kubetest.Pool
}

func newTenant(t *testing.T) *tenant {
	t.Helper()
	twin := kubetest.New()
	twin.AddNode("own", 4, "A100")
	pool := &kubetest.Pool{Name: "pool", GPUs: 4, Type: "A100", Most: 4}
	twin.AddPool(pool)
	return &tenant{t, twin, open(t, twin, letting()), pool}
}

// reopen is another leader.
func (t *tenant) reopen() {
	t.Helper()
	t.w = open(t, t.twin, letting())
}

// pass lets the executor and the twin act, but not the provider.
func (t *tenant) pass() {
	t.Helper()
	pass(t, t.w, t.twin)
}

// provide lets the provider act, and then all others.
func (t *tenant) provide() {
	t.Helper()
	t.twin.Provide()
	t.pass()
}

func (t *tenant) provision(nodes int) {
	t.Helper()
	do(t, t.w, scheduler.Provision{Group: "spare", Nodes: nodes})
}

// rents has so many nodes ordered, and come.
func (t *tenant) rents(nodes int) {
	t.Helper()
	t.provision(nodes)
	t.pass()
	t.provide()
}

// stands holds how it stands with the group: what the scheduler was told last, as ready,
// starting and leaving, and refused; what the scale says; and the nodes of the group that the
// scheduler knows of.
func (t *tenant) stands(want string) {
	t.Helper()
	r := t.w.nodes.Rented.Published[0]
	got := fmt.Sprintf("%d %d %d", r.Ready, r.Starting, r.Leaving)
	if r.Refused {
		got += " refused"
	}
	got += fmt.Sprintf(", scale %d:", t.twin.Replicas("pool"))
	for _, n := range t.w.extent.cluster.Nodes() {
		if n.Tenure == cluster.Rented {
			got += " " + strings.TrimPrefix(string(n.ID), "pool-")
		}
	}
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := t.twin.Wrong(); err != nil {
		t.Error(err)
	}
}

func (t *tenant) runs(name string, node cluster.NodeID) job.ID {
	t.Helper()
	id := job.ID(t.twin.Submit(queue, &kubetest.Ask{Name: name, Workers: 1, GPUs: 4}).UID)
	t.pass()
	do(t, t.w, runOn(id, on(node, 4)))
	t.pass()
	if got := places(t.twin, name); !strings.Contains(got, string(node)) {
		t.Fatalf("job %s: pods %q, want one on %s", name, got, node)
	}
	return id
}

func renting(t *testing.T, name string, f func(t *tenant)) {
	t.Helper()
	bubble(t, name, func(t *testing.T) { f(newTenant(t)) })
}

func TestRent(t *testing.T) {
	renting(t, "nodes are ordered once, come, and are given back", func(t *tenant) {
		t.stands("0 0 0, scale 0:")
		t.provision(2)
		t.stands("0 2 0, scale 0:")
		t.pass()
		t.provision(2)
		t.pass()
		t.stands("0 2 0, scale 2:")
		t.provide()
		t.stands("2 0 0, scale 2: 1 2")
		do(t, t.w, scheduler.Return{Nodes: []cluster.NodeID{"pool-1"}})
		t.stands("1 0 1, scale 2: 2")
		t.pass()
		t.stands("1 0 1, scale 1:") // no job comes to the other while the provider chooses one
		t.provide()
		t.stands("1 0 0, scale 1: 2")
	})
	renting(t, "those on their way are cancelled", func(t *tenant) {
		t.provision(3)
		t.pass()
		t.provision(1)
		t.pass()
		t.stands("0 1 0, scale 1:")
		t.provide()
		t.provision(0)
		t.pass()
		t.stands("1 0 0, scale 1: 1")
	})
	renting(t, "a node waits for the pods of a job that was stopped", func(t *tenant) {
		t.rents(1)
		a := t.runs("a", "pool-1")
		do(t, t.w, scheduler.Preempt{Job: a}, scheduler.Return{Nodes: []cluster.NodeID{"pool-1"}})
		unstopped(t.T, t.w, t.twin)
		t.stands("0 0 1, scale 1:")
		t.pass()
		t.stands("0 0 1, scale 0:")
		t.provide()
		t.stands("0 0 0, scale 0:")
	})
	renting(t, "a spot node that is taken back is on its way again", func(t *tenant) {
		t.rents(2)
		t.runs("a", "pool-2")
		news(t, t.w)
		t.twin.RemoveNode("pool-2")
		t.pass()
		if lost := exits(news(t, t.w)); len(lost) != 1 || lost[0].Outcome != scheduler.Lost {
			t.Errorf("got %v, want the job lost", lost)
		}
		t.stands("1 1 0, scale 2: 1")
		t.provide()
		t.stands("2 0 0, scale 2: 1 3")
	})
}

// What goes wrong with a provider.
func TestRent_trouble(t *testing.T) {
	renting(t, "an order that does not come is cancelled, and may be given again", func(t *tenant) {
		t.pool.Short = 2
		t.provision(3)
		t.pass()
		time.Sleep(9 * time.Minute)
		t.provide()
		t.stands("1 2 0, scale 3: 1")
		time.Sleep(9 * time.Minute)
		t.pass()
		t.stands("1 2 0, scale 3: 1") // one has come since
		time.Sleep(time.Minute)
		t.pass()
		t.stands("1 0 0 refused, scale 3: 1")
		do(t, t.w)
		t.pass()
		t.stands("1 0 0 refused, scale 1: 1")
		t.provision(2)
		t.pass()
		t.stands("1 1 0, scale 2: 1")
	})
	renting(t, "nothing is ordered while there is more than wanted", func(t *tenant) {
		t.rents(2)
		t.runs("a", "pool-1")
		do(t, t.w, scheduler.Return{Nodes: []cluster.NodeID{"pool-2"}})
		t.pass()
		t.provision(3)
		t.pass()
		t.stands("1 0 1 refused, scale 1: 1")
		t.provide()
		t.provision(3)
		t.pass()
		t.stands("1 2 0, scale 3: 1")
	})
	renting(t, "a provider that makes too many takes them back", func(t *tenant) {
		t.rents(1)
		t.runs("a", "pool-1")
		t.twin.Scale("pool", 3)
		t.provide()
		t.stands("1 0 2, scale 1: 1")
		t.provide()
		t.stands("1 0 0, scale 1: 1")
	})
}

// What goes wrong with a scale, and with those who ask for nodes.
func TestRent_asked_wrongly(t *testing.T) {
	renting(t, "somebody who asks for fewer is put right", func(t *tenant) {
		t.rents(1)
		t.runs("a", "pool-1")
		t.twin.Scale("pool", 0)
		time.Sleep(execute.Recheck)
		t.pass()
		t.provide()
		t.stands("1 0 0, scale 1: 1")
	})
	renting(t, "a scale that is not to be had is tried again later", func(t *tenant) {
		said := events.NewFakeRecorder(10)
		t.w.o.Events = said
		t.provision(1)
		t.pool.Name = "other"
		t.pass()
		if len(said.Events) != 1 || !strings.Contains(<-said.Events, "NodeGroupFailed node group spare: scale") {
			t.Error("want one event that says so")
		}
		t.pool.Name = "pool"
		t.pass()
		t.stands("0 1 0, scale 0:")
		time.Sleep(time.Hour)
		t.pass()
		t.stands("0 0 0 refused, scale 1:")
	})
	renting(t, "what cannot be had is an error that names it", func(t *tenant) {
		t.rents(1)
		t.runs("a", "pool-1")
		for want, a := range map[string]scheduler.Action{
			"group none":                  scheduler.Provision{Group: "none", Nodes: 1},
			"5 nodes wanted, want 0 to 4": scheduler.Provision{Group: "spare", Nodes: 5},
			"node none":                   scheduler.Return{Nodes: []cluster.NodeID{"none"}},
			"node own":                    scheduler.Return{Nodes: []cluster.NodeID{"own"}},
			"node pool-1: given back, want none that job": scheduler.Return{Nodes: []cluster.NodeID{"pool-1"}},
		} {
			if err := t.w.Do(t.Context(), []scheduler.Action{a}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: got %v, want an error with %q", a, err, want)
			}
		}
	})
}

// A new leader goes on from the Plan.
func TestRent_reopened(t *testing.T) {
	renting(t, "what was ordered is on its way", func(t *tenant) {
		t.provision(3)
		t.reopen()
		all := news(t, t.w)
		if first, ok := all[0].(scheduler.NodesChanged); !ok || first.Rentals[0].Starting != 3 {
			t.Errorf("got %+v first, want 3 nodes starting", all[0])
		}
		t.provision(3)
		t.pass()
		t.stands("0 3 0, scale 3:")
	})
	renting(t, "what was given back goes", func(t *tenant) {
		t.rents(2)
		t.runs("a", "pool-2")
		do(t, t.w, scheduler.Return{Nodes: []cluster.NodeID{"pool-1"}})
		t.reopen()
		t.pass()
		t.stands("1 0 1, scale 1: 2")
		t.provide()
		t.stands("1 0 0, scale 1: 2")
	})
	renting(t, "one that another has followed sets no scale", func(t *tenant) {
		t.provision(1)
		old := t.w
		t.reopen()
		if err := old.pass(t.Context()); err == nil || t.twin.Replicas("pool") != 0 {
			t.Errorf("got %v and scale %d, want an error and 0", err, t.twin.Replicas("pool"))
		}
	})
}

// In modes that do not act nothing is ordered.
func TestRent_observed(t *testing.T) {
	for _, mode := range []v1alpha1.Mode{v1alpha1.Observe, v1alpha1.Recommend} {
		bubble(t, string(mode), func(t *testing.T) {
			twin := kubetest.New()
			twin.AddPool(&kubetest.Pool{Name: "pool", GPUs: 4, Type: "A100", Most: 4})
			o := letting()
			o.Queue.Spec.Mode = mode
			w := open(t, twin, o)
			do(t, w, scheduler.Provision{Group: "spare", Nodes: 2})
			pass(t, w, twin)
			if n := twin.Replicas("pool"); n != 0 || w.nodes.Rented.Published[0].Starting != 0 {
				t.Errorf("scale %d and %+v, want nothing ordered", n, w.nodes.Rented.Published[0])
			}
		})
	}
}

// The scheduler is given all that can be rented, of which nothing is there.
func TestOffered(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		w := newTenant(t).w
		want := cluster.Offer{Group: "spare", Most: 4, Node: cluster.Node{
			GPUType: "a100", Group: "spare", Tenure: cluster.Rented, Price: 2, Capacity: cluster.Resources{GPUs: 4, CPUs: 64, Memory: 512 << 30},
		}}
		if diff := cmp.Diff([]cluster.Offer{want}, w.Cluster().Offers()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		held := w.Cluster().Held().Nodes()
		if !slices.EqualFunc(held, []string{"own"}, func(n cluster.Node, id string) bool { return string(n.ID) == id }) {
			t.Errorf("held %v, want what is owned", held)
		}
	})
}
