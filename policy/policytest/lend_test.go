package policytest

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// TestLendingWorlds checks the rules of nodes on loan under any plan:
//
//  1. What is told of a loan is right, and what is asked back is due later.
//  2. What is wanted comes with the next round, if it is spare; what goes back is gone.
//  3. What is due is not lent any more, and only then, or if a node breaks, a job loses GPUs
//     that a plan leaves it; without checkpoints it begins anew.
//
// And that the worlds hold what policies find hard.
func TestLendingWorlds(t *testing.T) {
	draws.AtLeast(t, enough)
	seen := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		w := NewLendingWorld(t)
		for range rounds {
			s := w.Snapshot()
			told(t, s)
			plan := drawReturn(t, s)
			if err := policy.Check(s, plan); err != nil {
				t.Fatalf("what jobs hold breaks a rule: %v\n%s", err, describeSnapshot(s))
			}
			notes(seen, s, plan)
			w.Advance(t, plan)
			obeyed(t, seen, w, s, plan)
		}
	})
	for _, want := range []string{
		"lent", "spare", "asked back", "asked back in time", "two owners", "expected", "given back", "taken by force", "lost", "began anew",
		"on loan", "non-preemptive on loan", "worth 3", "workers", "resizes", "owned types only", "waits for days",
	} {
		if seen[want] == 0 {
			t.Errorf("no world has what is %q; seen: %s", want, fmt.Sprint(seen))
		}
	}
}

// drawReturn draws a plan in which jobs keep what they have, but for those on nodes that go
// back: any that no job is on that has to stay.
func drawReturn(t *rapid.T, s *policy.Snapshot) *policy.Plan {
	p, stays := stay(s), make(map[cluster.NodeID]bool)
	for _, j := range s.Jobs {
		for _, share := range j.Placement {
			stays[share.Node] = stays[share.Node] || j.NonPreemptive || !j.Reservation.IsZero()
		}
	}
	for _, n := range s.Cluster.Nodes() {
		if n.Tenure == cluster.Loaned && !stays[n.ID] && oneIn(t, 4, "goes back") {
			p.Return = append(p.Return, n.ID)
		}
	}
	slices.Sort(p.Return)
	for i, j := range s.Jobs {
		if vacates(j.Placement, p.Return) {
			p.Jobs[i] = policy.Decision{Why: policy.Reason{Kind: policy.Reclaimed}}
		}
	}
	p.Capacity = make(map[cluster.Group]int)
	for _, l := range s.Loans {
		p.Capacity[l.Group] = rapid.IntRange(0, l.Lent+l.Spare).Draw(t, "nodes wanted")
	}
	return p
}

// told checks rule 1.
func told(t *rapid.T, s *policy.Snapshot) {
	for _, l := range s.Loans {
		if n := onLoan(s.Cluster, l.Group); n > l.Lent || l.Lent+l.Spare > l.Nodes || l.Reclaim > l.Lent {
			t.Fatalf("round %d: %d nodes there of %+v", s.Round, n, l)
		}
		if l.Reclaim > 0 && (l.Spare > 0 || !l.By.After(s.Now)) || l.Reclaim == 0 && !l.By.IsZero() {
			t.Fatalf("round %d, at %v: got %+v, want nothing spare while nodes are asked back, and those due later", s.Round, s.Now, l)
		}
	}
}

// onLoan returns how many nodes of a group are there.
func onLoan(c *cluster.Cluster, g cluster.Group) int {
	there := 0
	for _, n := range c.Nodes() {
		if n.Tenure == cluster.Loaned && n.Group == g {
			there++
		}
	}
	return there
}

// obeyed checks rules 2 and 3 of the round after a plan.
func obeyed(t *rapid.T, seen map[string]int, w *World, s *policy.Snapshot, p *policy.Plan) {
	for _, id := range p.Return {
		if _, still := w.cluster.Index(id); still {
			t.Fatalf("round %d: node %s is there, want it gone: it was given back", w.round, id)
		}
	}
	due := false
	for i, l := range s.Loans {
		back := returned(s, p, l.Group)
		want := max(l.Lent, min(p.Capacity[l.Group], l.Lent+l.Spare)) - back
		if !l.By.IsZero() && !l.By.After(w.Now()) {
			due = due || l.Reclaim > back
			want -= max(0, l.Reclaim-back)
		}
		if got := w.loans[i].Lent; got != want {
			t.Fatalf("round %d: group %s has %d nodes lent, want %d after %+v", w.round, l.Group, got, want, l)
		}
	}
	if due {
		seen["taken by force"]++
	}
	lost(t, seen, w, s, p, due)
}

func returned(s *policy.Snapshot, p *policy.Plan, g cluster.Group) int {
	back := 0
	for _, id := range p.Return {
		if n, _ := s.Cluster.Index(id); s.Cluster.Nodes()[n].Group == g {
			back++
		}
	}
	return back
}

// lost checks what became of the jobs that were to keep what they have.
func lost(t *rapid.T, seen map[string]int, w *World, s *policy.Snapshot, p *policy.Plan, due bool) {
	for _, now := range w.jobs {
		for _, share := range now.Placement {
			if _, there := w.cluster.Index(share.Node); !there {
				t.Fatalf("round %d: job %s is on node %s, which is not there", w.round, now.ID, share.Node)
			}
		}
		i := s.Index(now.ID)
		if i < 0 || !s.Jobs[i].Holding() || now.Holding() {
			continue
		}
		if failed := func(share cluster.Share) bool { return w.down(share.Node) }; !p.Jobs[i].Allocation.IsZero() {
			seen["lost"]++
			if !due && !slices.ContainsFunc(s.Jobs[i].Placement, failed) {
				t.Fatalf("round %d: job %s lost what it had, want that only where nodes fail or are due", w.round, now.ID)
			}
		}
		if now.NoCheckpoint && now.Progress > 0 {
			t.Fatalf("round %d: job %s waits with a progress of %g, want 0: it has no checkpoint", w.round, now.ID, now.Progress)
		}
		if now.NoCheckpoint && s.Jobs[i].Progress > 0 {
			seen["began anew"]++
		}
	}
}

// notes counts what policies see and do.
func notes(seen map[string]int, s *policy.Snapshot, p *policy.Plan) {
	note := func(what string, is bool) {
		if is {
			seen[what]++
		}
	}
	note("two owners", len(s.Loans) > 1)
	note("given back", len(p.Return) > 0)
	for _, l := range s.Loans {
		note("lent", l.Lent > 0)
		note("spare", l.Spare > 0)
		note("asked back", l.Reclaim > 0)
		note("asked back in time", l.Reclaim > 0 && l.By.Sub(s.Now) > s.Length)
		note("expected", len(l.Expected) > 0)
	}
	for _, j := range s.Jobs {
		lent := slices.ContainsFunc(j.Placement, func(share cluster.Share) bool {
			n, _ := s.Cluster.Index(share.Node)
			return s.Cluster.Nodes()[n].Tenure == cluster.Loaned
		})
		note("on loan", lent)
		note("non-preemptive on loan", lent && j.NonPreemptive)
		note("worth 3", len(s.Loans) > 0 && j.Equivalent(s.Loans[0].Node.GPUType) == 3)
		note("workers", j.WorkerGPUs > 1)
		note("resizes", j.Resizes)
		note("owned types only", len(s.Loans) > 0 && !j.Eligible(s.Loans[0].Node.GPUType))
		note("waits for days", j.Phase == job.Waiting && s.Now.Sub(j.Since).Hours() > 24)
	}
}

// TestWorldsResize: workers that join and leave a job that resizes are no restart.
func TestWorldsResize(t *testing.T) {
	for _, resizes := range []bool{true, false} {
		spec := &job.Spec{ID: "a", GPUs: 2, Resizes: resizes, Adaptivity: job.StrongScaling}
		row := &policy.Job{Spec: spec, Status: job.Status{Phase: job.Running, FirstStarted: Epoch, Since: Epoch}}
		on := func(gpus int) (cluster.Allocation, cluster.Placement) {
			return cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "t4"}},
				cluster.Placement{{Node: "n", Resources: cluster.Resources{GPUs: gpus}}}
		}
		row.Allocation, row.Placement = on(2)
		c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}})
		if err != nil {
			t.Fatal(err)
		}
		w := &World{cluster: c, all: c, jobs: []*policy.Job{row}, round: 1}
		var d policy.Decision
		d.Allocation, d.Placement = on(4)
		w.carryOut(&policy.Plan{Jobs: []policy.Decision{d}})
		got := w.jobs[0]
		if got.Allocation.GPUs != 4 || got.GPUService == 0 || (got.Restarts == 0) != resizes {
			t.Errorf("resizes %t: got %+v", resizes, got.Status)
		}
	}
}
