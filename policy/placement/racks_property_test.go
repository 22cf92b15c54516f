package placement_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/placement/pack"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/queue"
)

// others are placers to stand on.
var others = map[string]func(t *rapid.T) placement.Placer{
	"submesh": func(*rapid.T) placement.Placer { return submesh.New(submesh.DefaultOptions()) },
	"pack": func(t *rapid.T) placement.Placer {
		pl, err := pack.New(pack.Options{Penalty: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		return pl
	},
}

// labelled returns a cluster whose nodes are in one of some racks, those of the first in one of three NVLink
// domains, or in none.
func labelled(t *rapid.T, c *cluster.Cluster, racks []string) *cluster.Cluster {
	nodes := slices.Clone(c.Nodes())
	for i := range nodes {
		nodes[i].Rack = racks[(i*5+i/3)%len(racks)]
		if nodes[i].Rack == "r1" {
			nodes[i].NVLinkDomain = fmt.Sprint("r1-", i%3)
		}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRacks_property: in random worlds with racks, plans keep all rules, everybody has what the other
// placer gives them, no more restarts than gangs move, and those who do not give way stay.
func TestRacks_property(t *testing.T) {
	for name, other := range others {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w, q := policytest.NewWorld(t), queue.New(queue.LAS())
				racks := rapid.SampledFrom([][]string{{"r1", "r2"}, {"r1", "r2", "r1", ""}, {"r1"}}).Draw(t, "racks")
				pl := placement.NewRacks(other(t))
				for range 5 {
					s := w.Snapshot()
					s.Cluster = labelled(t, s.Cluster, racks)
					asked, err := q.Plan(t.Context(), s)
					if err != nil {
						t.Fatal(err)
					}
					policy.FillProportional(s, asked)
					p, plain := place(t, pl, s, asked), place(t, other(t), ordered(s), asked)
					if err := errors.Join(policy.Check(s, p), policy.CheckPlacement(s, p), compare(s, p, plain)); err != nil {
						t.Fatal(err)
					}
					if again := place(t, placement.NewRacks(other(t)), s, asked); fmt.Sprint(again.Jobs) != fmt.Sprint(p.Jobs) {
						t.Fatalf("a new placer places\n%v\nan old one\n%v", again.Jobs, p.Jobs)
					}
					w.Advance(t, p)
				}
			})
		})
	}
}

// ordered returns a snapshot whose nodes are in the order of their racks and domains, those of none last.
func ordered(s *policy.Snapshot) *policy.Snapshot {
	o := *s
	racks, domains := map[string]int{"": 1 << 20}, map[string]int{"": 1 << 20}
	for i, n := range s.Cluster.Nodes() {
		if _, known := racks[n.Rack]; !known {
			racks[n.Rack] = i
		}
		if _, known := domains[n.NVLinkDomain]; !known {
			domains[n.NVLinkDomain] = i
		}
	}
	o.Cluster = s.Cluster.Ordered(func(n *cluster.Node) int { return racks[n.Rack]<<21 + domains[n.NVLinkDomain] })
	return &o
}

func place(t *rapid.T, pl placement.Placer, s *policy.Snapshot, p *policy.Plan) *policy.Plan {
	q := *p
	q.Jobs = slices.Clone(p.Jobs)
	if _, err := pl.Place(t.Context(), s, &q); err != nil {
		t.Fatal(err)
	}
	return &q
}

// compare returns what is wrong in a plan beside that of the other placer.
func compare(s *policy.Snapshot, p, plain *policy.Plan) error {
	restarted, gangs := 0, 0
	for i, j := range s.Jobs {
		d, was := &p.Jobs[i], &plain.Jobs[i]
		if d.Allocation != was.Allocation || d.Why != was.Why || !d.Placement.SameShape(was.Placement) {
			return fmt.Errorf("job %s has %v on %v, want %v on %v, on other nodes perhaps", j.ID, d.Allocation, d.Placement, was.Allocation, was.Placement)
		}
		moved, stays := !d.Placement.SameGPUs(was.Placement), was.Placement.SameGPUs(j.Placement)
		if moved && stays && (j.Phase != job.Running || j.NoCheckpoint || j.NonPreemptive) {
			return fmt.Errorf("job %s is on %v, want that it stays on %v", j.ID, d.Placement, j.Placement)
		}
		if moved && stays {
			restarted += d.Allocation.GPUs
		}
		if len(d.Placement) > 1 && (moved || !stays) {
			gangs += d.Allocation.GPUs
		}
	}
	if restarted > gangs {
		return fmt.Errorf("jobs of %d GPUs restart, want no more than gangs move to: %d", restarted, gangs)
	}
	return nil
}

// TestRacks_without_racks: where nodes have no racks, the plan is the other placer's, byte for byte.
func TestRacks_without_racks(t *testing.T) {
	for name, other := range others {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w, q, pl, plain := policytest.NewWorld(t), queue.New(queue.SRTF()), placement.NewRacks(other(t)), other(t)
				for range 4 {
					s := w.Snapshot()
					asked, err := q.Plan(t.Context(), s)
					if err != nil {
						t.Fatal(err)
					}
					policy.FillProportional(s, asked)
					p, want := place(t, pl, s, asked), place(t, plain, s, asked)
					if fmt.Sprintf("%+v", p) != fmt.Sprintf("%+v", want) {
						t.Fatalf("placed\n%+v\nwant\n%+v", p, want)
					}
					w.Advance(t, p)
				}
			})
		})
	}
}

// TestRacks_in_a_crowd: the same on more nodes, for gangs of whole nodes and with parts of one.
func TestRacks_in_a_crowd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &policy.Snapshot{Now: policytest.Epoch, Length: time.Minute, Cluster: hall(t)}
		pl := placement.NewRacks(others["submesh"](t))
		for range 6 {
			asked := shift(t, s)
			p, plain := place(t, pl, s, asked), place(t, others["submesh"](t), ordered(s), asked)
			if err := errors.Join(policy.Check(s, p), policy.CheckPlacement(s, p), compare(s, p, plain)); err != nil {
				t.Fatal(err)
			}
			for i, j := range s.Jobs {
				now := *j
				if now.Allocation, now.Placement, now.Phase = p.Jobs[i].Allocation, p.Jobs[i].Placement, job.Running; !now.Holding() {
					now.Phase = job.Waiting
				}
				s.Jobs[i] = &now
			}
		}
	})
}

// hall returns 15 nodes of four GPUs, each in one of four racks or in none.
func hall(t *rapid.T) *cluster.Cluster {
	nodes := make([]cluster.Node, 15)
	for i := range nodes {
		nodes[i] = cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%02d", i)), GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}
		nodes[i].Rack = rapid.SampledFrom([]string{"a", "b", "c", "d", ""}).Draw(t, "rack")
		nodes[i].NVLinkDomain = rapid.SampledFrom([]string{"1", "2", ""}).Draw(t, "domain")
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// shift ends some jobs and adds others, and returns a plan in which some have other GPUs than before.
func shift(t *rapid.T, s *policy.Snapshot) *policy.Plan {
	s.Round++
	s.Jobs = slices.DeleteFunc(s.Jobs, func(*policy.Job) bool { return rapid.IntRange(0, 3).Draw(t, "ends") == 0 })
	for k := range 4 {
		j := &policy.Job{Spec: &job.Spec{ID: job.ID(fmt.Sprint("j", s.Round, "-", k)), Adaptivity: job.Adaptive, NoCheckpoint: k == 0}}
		j.Phase, j.Since = job.Waiting, s.Now
		s.Jobs = append(s.Jobs, j)
	}
	p, free := &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}, s.Cluster.GPUs()
	for i, j := range s.Jobs {
		c := j.Allocation.Configuration
		if c.IsZero() || rapid.IntRange(0, 4).Draw(t, "changes") == 0 {
			c.GPUs, c.GPUType = rapid.SampledFrom([]int{1, 2, 4, 4, 6, 8, 8, 12, 16}).Draw(t, "GPUs"), "t4"
			c.Nodes = (c.GPUs + 3) / 4
		}
		if c.GPUs <= free {
			p.Jobs[i].Allocation.Configuration = c
			free -= c.GPUs
		}
	}
	return p
}
