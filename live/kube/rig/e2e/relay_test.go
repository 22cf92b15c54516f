package e2e

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/fault"
)

// TestRelay_with_pieces_missing shows which checks keep a new leader from assigning a GPU twice. Each scene orders
// the old leader's writes, the new leader's view and the ends of pods in the worst way, and runs with checks
// removed. One removed check is made up for by another; two are not.
func TestRelay_with_pieces_missing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	b := newBench(t, rig.Nodes{Type: "a100", Count: 1}, rig.Nodes{Type: "h100", Count: 1}, rig.Nodes{Type: "v100", Count: 2})
	b.installFence()
	for _, s := range []struct {
		name  string
		play  func(*relay)
		bugs  string // of the next leader
		found string // by the auditor
	}{
		{"old pods", seesOldPods, "", ""},
		{"old pods, stale", seesOldPods, "stale", ""}, // it looks again before pods go to their nodes
		{"old pods, careless", seesOldPods, "careless", ""},
		{"old pods, stale and careless", seesOldPods, "stale,careless", "I1 pinned"},
		{"a late write", hearsLate, "", ""},
		{"a late write, unfenced", hearsLate, "unfenced", "I1 pinned"},
		{"a plan", takesOver, "", ""},
		{"a plan, forgetful", takesOver, "forgetful", "I6 non-preemptible"}, // it waits for pods to end
		{"a plan, hasty and careless", takesOver, "hasty,careless", ""},
		{"a plan, forgetful, hasty and careless", takesOver, "forgetful,hasty,careless", "I1 pinned, I6 non-preemptible"},
	} {
		t.Run(s.name, func(t *testing.T) {
			if s.bugs != "" {
				long(t, "the auditor found "+cmp.Or(s.found, "nothing"))
			}
			b.relay(t, s.bugs).run(s.play, s.found)
		})
	}
}

// seesOldPods: a pod comes to run after the next leader has begun to watch and before it has its
// epoch, and its watch shows it late; a job comes that is to have the GPUs.
func seesOldPods(r *relay) {
	old, pin := r.halted()
	epoch := newHold(fault.Match{Verb: "update", Resource: "plans.oxgang.dev"})
	defer epoch.release()
	r.second.Hook(epoch.ask)
	r.next()
	r.wait("the next leader takes its epoch", epoch.caught)
	show := r.second.Rules.Hold("pods")
	defer show()
	pin.release()
	first := r.pod("long", runs)
	r.submit("short", "a100", 1, nil)
	epoch.release()
	r.acts("short")
	show()
	r.passes()
	r.ends(first)
	r.pod("short", runs)
	r.gone(old)
}

// hearsLate: the write of the first leader that sends a pod to its node comes when the next one
// has given the node to another job, and nobody has told the pod.
func hearsLate(r *relay) {
	old, pin := r.halted()
	was := r.epoch(r.queue)
	r.second.Hook(func(c *fault.Call, m fault.Moment) bool { // what it writes of the job does not come through
		return m != fault.Before || !strings.HasPrefix(c.Name, "long")
	})
	r.submit("short", "a100", 1, nil)
	r.next()
	r.pod("short", runs)
	want := http.StatusOK
	if r.bugs == "" {
		want = http.StatusForbidden
		r.refuses("long", was)
	}
	pin.release()
	r.first.Idle()
	if code := pin.code(r.first); code != want {
		r.Errorf("%s, late: answered %d, want %d", pin.call.String(), code, want)
	}
	r.gone(old)
}

// takesOver: jobs that may not be stopped run on both nodes, and one comes that a plan made anew would have first.
func takesOver(r *relay) {
	leader := r.lead("first", r.first, "")
	r.create(Queue(r.queue, v1alpha1.Resize, "srtf"))
	for _, name := range []string{"keep", "keep-too"} {
		r.submit(name, "v100", 1000, map[string]string{v1alpha1.NonPreemptible: "true"})
		r.pod(name, runs)
	}
	r.until("a plan of both", func(a *audit.Auditor) bool {
		p := r.plan(a)
		return p != nil && len(p.Spec.Allocations) == 2
	})
	was := r.epoch(r.queue)
	if err := leader.Kill(); err != nil {
		r.Fatal(err)
	}
	r.submit("late", "v100", 1, nil)
	r.next()
	r.until("the next leader plans for late", func(a *audit.Auditor) bool {
		p := r.plan(a)
		return p.Spec.Epoch > was && slices.ContainsFunc(p.Spec.Allocations, func(j v1alpha1.JobAllocation) bool { return j.Name == "late" })
	})
	r.passes()
}

// A leadership that goes to another scheduler and back, while each of the two is halted for
// longer than its lease, leaves no plan of an earlier term: who goes on finds that it leads no
// more, whatever it had in mind, and ends.
func TestRelay_there_and_back(t *testing.T) {
	long(t, "each of three terms ended with the next: no plan and no write of an earlier one, and no finding")
	b := newBench(t, rig.Nodes{Type: "a100", Count: 4})
	b.installFence()
	r := b.relay(t, "")
	one := r.lead("first", r.first, "")
	r.create(Queue(r.queue, v1alpha1.Resize, "fifo"))
	r.submit("a", "a100", 1, nil)
	r.pod("a", runs)
	r.halts(one)
	two := r.next()
	r.submit("b", "a100", 1, nil)
	r.pod("b", runs)
	second := r.epoch(r.queue)
	r.halts(two)
	r.submit("c", "a100", 1, nil) // both may want to start it
	r.wakes(one, r.first)
	if err := one.Start(); err != nil {
		r.Fatal(err)
	}
	r.pod("c", runs)
	r.submit("d", "a100", 1, nil)
	r.wakes(two, r.second)
	r.pod("d", runs)
	r.until("the third term", func(a *audit.Auditor) bool { return r.plan(a).Spec.Epoch > second })
	if found := r.findings(); len(found) > 0 {
		r.Errorf("%d findings:%s", len(found), lines(found))
	}
	if err := one.Kill(); err != nil {
		r.Fatal(err)
	}
}
