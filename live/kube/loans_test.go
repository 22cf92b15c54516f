package kube

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// group is that of the servers of a twin.
const group = cluster.Group("a100-4-loan")

// lending makes options those of a queue that may borrow, all of its lender's nodes.
func lending(o jobstate.Options) jobstate.Options {
	none := int32(0)
	o.Queue.Spec.Loans = &v1alpha1.Lender{NodeSelector: map[string]string{kubetest.Serves: "yes"}, HeadroomPercent: &none}
	o.Nodes.Lender, o.Nodes.Queue = o.Queue.Spec.Loans.NodeSelector, queue
	return o
}

// newLender returns a twin with two nodes of its own and three of a lender, s0 to s2, and a
// backend of it.
func newLender(t testing.TB, mode v1alpha1.Mode) (*Backend, *kubetest.Cluster) {
	t.Helper()
	twin := newTwin()
	for i := range 3 {
		twin.AddServer(fmt.Sprint("s", i), 4, "A100")
	}
	return open(t, twin, lending(options(mode))), twin
}

// heardOf returns how it stands with loans as the scheduler was last told, and the nodes on loan.
func heardOf(all []scheduler.Event) string {
	text := "nothing"
	for _, ev := range all {
		n, ok := ev.(scheduler.NodesChanged)
		if !ok {
			continue
		}
		text = ""
		for _, l := range n.Loans {
			text += fmt.Sprintf("%d lent, %d spare, %d asked back", l.Lent, l.Spare, l.Reclaim)
		}
		for _, o := range n.Cluster.Nodes() {
			if o.Tenure == cluster.Loaned {
				text += fmt.Sprintf(", %s in %s", o.ID, o.Group)
			}
		}
	}
	return text
}

// marks returns the nodes that are marked as lent, and those that the plan has on loan.
func marks(t testing.TB, twin *kubetest.Cluster) string {
	t.Helper()
	var marked, planned []string
	for _, name := range []string{"n0", "n1", "s0", "s1", "s2"} {
		n := twin.Node(name)
		if has := n.Labels[v1alpha1.LoanLabel] == queue; has != slices.Contains(n.Spec.Taints, corev1.Taint{Key: v1alpha1.LoanTaint, Value: queue, Effect: corev1.TaintEffectNoSchedule}) {
			t.Errorf("node %s has the label (%v) or the taint, and not both", name, has)
		} else if has {
			marked = append(marked, name)
		}
	}
	for _, l := range twin.Plan(queue).Spec.Loans {
		planned = append(planned, l.Name)
	}
	return fmt.Sprintf("marked %v, planned %v", marked, planned)
}

func expect(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %s, want %s", what, got, want)
	}
}

func TestLoans(t *testing.T) {
	bubble(t, "what idles comes on loan, by the plan and then by its marks", func(t *testing.T) {
		w, twin := newLender(t, v1alpha1.Resize)
		expect(t, "at first", heardOf(news(t, w)), "0 lent, 3 spare, 0 asked back")
		do(t, w, scheduler.Provision{Group: group, Nodes: 2})
		expect(t, "planned", heardOf(news(t, w)), "2 lent, 1 spare, 0 asked back")
		expect(t, "before a pass", marks(t, twin), "marked [], planned [s0 s1]")
		pass(t, w, twin)
		expect(t, "marked", heardOf(news(t, w)), "2 lent, 1 spare, 0 asked back, s0 in a100-4-loan, s1 in a100-4-loan")
		expect(t, "after a pass", marks(t, twin), "marked [s0 s1], planned [s0 s1]")
		do(t, w, scheduler.Provision{Group: group, Nodes: 2})
		expect(t, "asked for again", marks(t, twin), "marked [s0 s1], planned [s0 s1]")
		do(t, w, scheduler.Return{Nodes: []cluster.NodeID{"s0"}})
		pass(t, w, twin)
		expect(t, "given back", marks(t, twin), "marked [s1], planned [s1]")
		if all := w.Cluster(); len(all.Nodes()) != 5 || len(all.Held().Nodes()) != 2 {
			t.Errorf("%d nodes, %d of them its own, want all that can be lent and two", len(all.Nodes()), len(all.Held().Nodes()))
		}
	})
	bubble(t, "a job on loan is stopped before its node goes back", func(t *testing.T) {
		w, twin, a := onLoan(t)
		twin.Serve("i0", 4) // and another for which there is a node
		twin.Serve("i1", 4)
		pass(t, w, twin)
		due := time.Now().Add(5 * time.Minute)
		all := news(t, w)
		expect(t, "asked back", heardOf(all), "2 lent, 0 spare, 1 asked back, s0 in a100-4-loan, s1 in a100-4-loan")
		if by := w.nodes.Loans.Published[0].By; !by.Equal(due) {
			t.Errorf("by %v, want %v", by, due)
		}
		do(t, w, scheduler.Preempt{Job: a}, scheduler.Return{Nodes: []cluster.NodeID{"s0"}})
		expect(t, "given back", heardOf(news(t, w)), "1 lent, 0 spare, 0 asked back, s1 in a100-4-loan")
		unstopped(t, w, twin)
		expect(t, "its pods are there", marks(t, twin), "marked [s0 s1], planned [s1]")
		pass(t, w, twin)
		expect(t, "they are gone", marks(t, twin), "marked [s1], planned [s1]")
		if lent, waits := twin.Lent(); lent != 1 || waits != 0 {
			t.Errorf("%d on loan, and %d pods of the owner wait, want 1 and 0", lent, waits)
		}
	})
	bubble(t, "what is overdue is taken, the empty first", func(t *testing.T) {
		w, twin, a := onLoan(t)
		twin.Serve("i0", 4)
		twin.Serve("i1", 4)
		pass(t, w, twin)
		time.Sleep(5*time.Minute - time.Second)
		twin.Serve("i2", 4)
		pass(t, w, twin)
		expect(t, "before its time", marks(t, twin), "marked [s0 s1], planned [s0 s1]")
		time.Sleep(time.Second)
		pass(t, w, twin)
		do(t, w)
		pass(t, w, twin)
		all := news(t, w)
		expect(t, "the empty one", marks(t, twin), "marked [s0], planned [s0]")
		if lost := exits(all); len(lost) > 0 {
			t.Errorf("lost %v, want the job to go on: the other node was empty", lost)
		}
		time.Sleep(5 * time.Minute)
		pass(t, w, twin)
		lost := exits(news(t, w))
		do(t, w)
		pass(t, w, twin)
		expect(t, "that of the job", marks(t, twin), "marked [], planned []")
		if len(lost) != 1 || lost[0].Job != a || lost[0].Outcome != scheduler.Lost || !strings.Contains(lost[0].Detail, "the owner of node s0 took it back") {
			t.Errorf("lost %v, want the job, by its owner", lost)
		}
		if _, waits := twin.Lent(); waits != 0 || !*twin.Job("a").Spec.Suspend {
			t.Errorf("%d pods of the owner wait, want none, and the job stopped", waits)
		}
	})
}

// onLoan returns a backend with s0 and s1 on loan, and a job on s0. Nothing may go wrong with it.
func onLoan(t testing.TB) (*Backend, *kubetest.Cluster, job.ID) {
	t.Helper()
	w, twin, a := lentTo(t)
	t.Cleanup(func() {
		if err := twin.Wrong(); err != nil {
			t.Error(err)
		}
	})
	return w, twin, a
}

func lentTo(t testing.TB) (*Backend, *kubetest.Cluster, job.ID) {
	t.Helper()
	w, twin := newLender(t, v1alpha1.Resize)
	a := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 2}).UID)
	do(t, w, scheduler.Provision{Group: group, Nodes: 2})
	pass(t, w, twin)
	do(t, w, runOn(a, on("s0", 4)))
	pass(t, w, twin)
	news(t, w)
	expect(t, "a job on loan", places(twin, "a"), "0 s0 1, 1 s0 1")
	return w, twin, a
}

// A node that went back too early is seen.
func TestLoans_seeded_bug(t *testing.T) {
	bubble(t, "its marks are taken with pods on it", func(t *testing.T) {
		_, twin, _ := lentTo(t)
		n := twin.Node("s0")
		marked := n.DeepCopy()
		if err := inventory.Return(n, queue, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := twin.Client().Patch(t.Context(), n, client.MergeFrom(marked)); err != nil {
			t.Fatal(err)
		}
		if err := twin.Wrong(); err == nil || !strings.Contains(err.Error(), "node s0 went back from queue train with pod a-000") {
			t.Errorf("got %v, want it said", err)
		}
	})
}

func TestLoans_of_which_nothing_comes(t *testing.T) {
	bubble(t, "what cannot be used goes back, and comes again", func(t *testing.T) {
		w, twin, _ := onLoan(t)
		n := twin.Node("s1")
		n.Spec.Unschedulable = true
		twin.Update(n)
		pass(t, w, twin)
		do(t, w)
		pass(t, w, twin)
		expect(t, "cordoned", marks(t, twin), "marked [s0], planned [s0]")
		n = twin.Node("s1")
		n.Spec.Unschedulable = false
		twin.Update(n)
		pass(t, w, twin)
		expect(t, "uncordoned", heardOf(news(t, w)), "1 lent, 2 spare, 0 asked back, s0 in a100-4-loan")
	})
	bubble(t, "a node that its owner came to before it was marked", func(t *testing.T) {
		w, twin := newLender(t, v1alpha1.Resize)
		do(t, w, scheduler.Provision{Group: group, Nodes: 1})
		twin.Serve("i0", 1)
		twin.Settle()
		pass(t, w, twin)
		do(t, w)
		pass(t, w, twin)
		expect(t, "it stays its owner's", marks(t, twin), "marked [], planned []")
	})
	bubble(t, "nothing is written in a mode that does not act", func(t *testing.T) {
		w, twin := newLender(t, v1alpha1.Recommend)
		do(t, w, scheduler.Provision{Group: group, Nodes: 1})
		pass(t, w, twin)
		expect(t, "it is planned", marks(t, twin), "marked [], planned [s0]")
	})
	bubble(t, "without a lender all goes back", func(t *testing.T) {
		_, twin, a := onLoan(t)
		o := options(v1alpha1.Resize)
		o.Nodes.Queue, o.Nodes.Selector = queue, map[string]string{kubetest.Serves: "no"}
		w := open(t, twin, o)
		pass(t, w, twin)
		if lost := exits(news(t, w)); len(lost) != 1 || lost[0].Job != a {
			t.Errorf("lost %v, want the job on loan", lost)
		}
		do(t, w)
		pass(t, w, twin)
		expect(t, "it went back", marks(t, twin), "marked [], planned []")
	})
	bubble(t, "nothing more is lent for a while once some was asked back", func(t *testing.T) {
		w, twin, _ := onLoan(t)
		twin.Serve("i0", 4)
		twin.Serve("i1", 4)
		pass(t, w, twin)
		do(t, w, scheduler.Return{Nodes: []cluster.NodeID{"s1"}})
		twin.Calm()
		pass(t, w, twin)
		expect(t, "at once", heardOf(news(t, w)), "1 lent, 0 spare, 0 asked back, s0 in a100-4-loan")
		time.Sleep(5 * time.Minute)
		pass(t, w, twin)
		expect(t, "later", heardOf(news(t, w)), "1 lent, 2 spare, 0 asked back, s0 in a100-4-loan")
	})
}

func TestLoans_of_another_leader(t *testing.T) {
	bubble(t, "they are taken over from the plan", func(t *testing.T) {
		w, twin, a := onLoan(t)
		do(t, w, scheduler.Return{Nodes: []cluster.NodeID{"s1"}}) // and nothing is done about it
		version := twin.Node("s0").ResourceVersion
		w = open(t, twin, lending(options(v1alpha1.Resize)))
		expect(t, "as it was", heardOf(news(t, w)), "1 lent, 1 spare, 0 asked back, s0 in a100-4-loan")
		pass(t, w, twin)
		expect(t, "what was begun is done", marks(t, twin), "marked [s0], planned [s0]")
		if places(twin, "a") != "0 s0 1, 1 s0 1" || !w.table.ByID[a].Wants() || twin.Node("s0").ResourceVersion != version {
			t.Errorf("pods %s, want the job and its node left alone", places(twin, "a"))
		}
	})
	bubble(t, "a node is kept to which pods of a stopped job may yet come", func(t *testing.T) {
		w, twin, a := onLoan(t)
		fail(twin, twin.PodsOf("a")...)
		do(t, w, scheduler.Preempt{Job: a}, scheduler.Return{Nodes: []cluster.NodeID{"s0"}})
		looks(t, w, 3)
		expect(t, "its controller has not stopped it", marks(t, twin), "marked [s0 s1], planned [s1]")
		pass(t, w, twin)
		expect(t, "it has", marks(t, twin), "marked [s1], planned [s1]")
	})
	bubble(t, "a node of which watches are late is kept", func(t *testing.T) {
		w, twin, a := onLoan(t)
		do(t, w, scheduler.Preempt{Job: a}, scheduler.Return{Nodes: []cluster.NodeID{"s0"}})
		w.writer.Unseen["a pod"] = 1 << 60
		w.latest.observation.Versions["a pod"] = 1
		if all := w.nodes.Transfers(w.latest.observation); len(all) > 0 {
			t.Errorf("%d writes to nodes before the watches show what was written, want none", len(all))
		}
		delete(w.writer.Unseen, "a pod")
		pass(t, w, twin)
		expect(t, "afterwards", marks(t, twin), "marked [s1], planned [s1]")
	})
}

// What a scheduler.Expander refuses.
func TestLoans_errors(t *testing.T) {
	for _, c := range []struct {
		ask  scheduler.Action
		want string
	}{
		{scheduler.Provision{Group: "x", Nodes: 1}, "kube: group x: queue train can neither rent nor borrow nodes of it"},
		{scheduler.Provision{Group: group, Nodes: -1}, "kube: group a100-4-loan: -1 nodes wanted on loan, want 0 to 3"},
		{scheduler.Provision{Group: group, Nodes: 4}, "kube: group a100-4-loan: 4 nodes wanted on loan, want 0 to 3"},
		{scheduler.Return{Nodes: []cluster.NodeID{"s2"}}, "kube: node s2: given back, want one that is rented and there, or on loan"},
		{scheduler.Return{Nodes: []cluster.NodeID{"n0"}}, "kube: node n0: given back, want one that is rented and there, or on loan"},
		{scheduler.Return{Nodes: []cluster.NodeID{"s0"}}, "kube: node s0: given back, want none that job team/a is on"},
	} {
		bubble(t, c.want, func(t *testing.T) {
			w, twin, _ := onLoan(t)
			if err := w.Do(t.Context(), []scheduler.Action{c.ask}); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
			expect(t, "nothing is done", marks(t, twin), "marked [s0 s1], planned [s0 s1]")
		})
	}
	bubble(t, "a job planned on a node that has gone meanwhile", func(t *testing.T) {
		w, twin, _ := onLoan(t)
		b := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "b", Workers: 1, GPUs: 4}).UID)
		twin.RemoveNode("s1")
		pass(t, w, twin)
		do(t, w, runOn(b, on("s1", 4)))
		if lost := exits(news(t, w)); len(lost) != 1 || !strings.Contains(lost[0].Detail, "node s1 disappeared before") {
			t.Errorf("lost %v, want the job, whose node has gone", lost)
		}
	})
}

// What lyra makes of it: a queue whose own nodes are taken runs jobs on loan, and gives the node
// back that costs the fewest.
func TestLoans_of_lyra(t *testing.T) {
	bubble(t, "one job makes way", func(t *testing.T) {
		twin := kubetest.New()
		twin.AddNode("v0", 8, "v100")
		twin.AddNode("v1", 8, "v100")
		for i := range 4 {
			twin.AddServer(fmt.Sprint("t", i), 8, "t4")
		}
		s := newStage(t, twin, lending(options(v1alpha1.Resize)), "lyra")
		defer s.end()
		s.live(15 * time.Second)
		only := map[string]string{v1alpha1.GPUTypes: "v100"}
		for _, a := range []kubetest.Ask{{Name: "own", Workers: 2, GPUs: 8, Annotations: only}, {Name: "left", Workers: 1, GPUs: 4}, {Name: "one", Workers: 1, GPUs: 8}, {Name: "right", Workers: 1, GPUs: 4}, {Name: "wide", Workers: 2, GPUs: 8}} {
			twin.Submit(queue, &a)
			s.live(12 * time.Second)
		}
		got := ""
		for _, name := range []string{"left", "right", "one", "wide"} {
			got += places(twin, name) + "; "
		}
		expect(t, "on loan", got, "0 t0 1; 0 t0 1; 0 t1 1; 0 t2 1, 1 t3 1; ")
		twin.Serve("i", 8)
		s.live(40 * time.Second)
		expect(t, "which made way", places(twin, "one"), "")
		if lent, waits := twin.Lent(); lent != 3 || waits != 0 {
			t.Errorf("%d nodes on loan, and %d pods of the lender wait, want 3 and 0", lent, waits)
		}
		if err := twin.Wrong(); err != nil {
			t.Error(err)
		}
	})
}
