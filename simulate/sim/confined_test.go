package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// idleBound is the longest time for which nodes may stay idle although the waiting job of the highest priority fits on
// them: the longest pause after a grant without a place (8 rounds of a minute), and two rounds.
const idleBound = 10 * time.Minute

// A nodeWatch checks the nodes of jobs that may use only some.
type nodeWatch struct {
	fits   map[job.ID]time.Time // since when a job of the highest priority has waited beside nodes that it fits on
	most   time.Duration        // the longest such time
	broken []string             // rules that plans broke
	idle   []string             // times beyond idleBound
	starts int                  // of confined jobs
}

func (*nodeWatch) Event(time.Time, scheduler.Event) {}

func (o *nodeWatch) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	if p.Refused != "" {
		o.broken = append(o.broken, p.Refused)
	}
	idle := make(map[cluster.NodeID]int)
	for _, n := range s.Cluster.Nodes() {
		idle[n.ID] = n.Capacity.GPUs
	}
	for i, j := range s.Jobs {
		for _, share := range p.Jobs[i].Placement {
			idle[share.Node] -= share.GPUs
			if !j.MayUse(share.Node) {
				o.broken = append(o.broken, fmt.Sprintf("%v: %s is on %s, want one of %v", s.Now, j.ID, share.Node, j.Parts))
			}
		}
		if len(j.Parts) > 0 && len(p.Jobs[i].Placement) > 0 && !j.Holding() {
			o.starts++
		}
	}
	o.waits(s, p, idle)
}

func (o *nodeWatch) waits(s *policy.Snapshot, p *policy.Plan, idle map[cluster.NodeID]int) {
	first := firstWaiting(s, p)
	for id := range o.fits {
		if first == nil || id != first.ID {
			delete(o.fits, id)
		}
	}
	switch {
	case first == nil:
	case !fitsIdle(s.Cluster, first, idle):
		delete(o.fits, first.ID)
	case o.fits[first.ID].IsZero():
		o.fits[first.ID] = s.Now
	default:
		waits := s.Now.Sub(o.fits[first.ID])
		if o.most = max(o.most, waits); waits > idleBound {
			o.idle = append(o.idle, fmt.Sprintf("%v: %s with %d GPUs, first of all that wait, has waited for %v beside idle nodes: %v (%v, %+v)", s.Now, first.ID, first.GPUs, waits, idle, first.Parts, p.Jobs[s.Index(first.ID)].Why))
		}
	}
}

// firstWaiting returns the waiting job whose priority is higher than that of all other waiting jobs, or nil.
func firstWaiting(s *policy.Snapshot, p *policy.Plan) (first *policy.Job) {
	tie := false
	for i, j := range s.Jobs {
		if !p.Jobs[i].Allocation.IsZero() {
			continue
		}
		switch {
		case first == nil || j.Priority > first.Priority:
			first, tie = j, false
		case j.Priority == first.Priority:
			tie = true
		}
	}
	if tie {
		return nil
	}
	return first
}

// fitsIdle reports whether a rigid job fits on idle GPUs of its nodes: on one node, or on whole nodes of 8.
func fitsIdle(c *cluster.Cluster, j *policy.Job, idle map[cluster.NodeID]int) bool {
	nodes := make(map[cluster.GPUType]int)
	for _, n := range c.Nodes() {
		if j.MayUse(n.ID) && idle[n.ID] >= min(8, j.GPUs) {
			nodes[n.GPUType]++
		}
	}
	for _, n := range nodes {
		if n >= (j.GPUs+7)/8 {
			return true
		}
	}
	return false
}

// confined draws jobs of different priorities, most of which may use only some nodes.
func confined(t *rapid.T) *script {
	s := &script{cluster: withHosts(t, eights(t)), catalog: short, world: sim.DefaultOptions(), scheduler: scheduler.DefaultOptions()}
	s.scheduler.Profile = false
	var nodes []cluster.NodeID
	for _, n := range s.cluster.Nodes() {
		nodes = append(nodes, n.ID)
	}
	sets := rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.SampledFrom(nodes), 1, len(nodes), rapid.ID[cluster.NodeID]), 1, 5).Draw(t, "node sets")
	for i := range rapid.IntRange(10, 50).Draw(t, "jobs") {
		a := workload.Arrival{At: time.Duration(rapid.IntRange(0, 3*3600).Draw(t, "arrival in seconds")) * time.Second}
		a.Duration = time.Duration(rapid.IntRange(300, 2*3600).Draw(t, "duration in seconds")) * time.Second
		a.Spec = job.Spec{ID: job.ID(fmt.Sprintf("j%02d", i)), Weight: 1, Adaptivity: job.Rigid, NoCheckpoint: oneIn(t, 3, "without checkpoints")}
		a.Spec.GPUs = rapid.SampledFrom([]int{1, 2, 4, 8, 16}).Draw(t, "GPUs")
		a.Spec.Priority = float64(rapid.IntRange(0, 9).Draw(t, "priority"))
		if !oneIn(t, 4, "may use all nodes") {
			set := slices.Sorted(slices.Values(rapid.SampledFrom(sets).Draw(t, "nodes")))
			a.Spec.Parts = []job.Part{{Nodes: set}}
		}
		if err := short.Complete(&a); err != nil {
			t.Fatal(err)
		}
		if holdsOn(s.cluster, &a.Spec) {
			s.arrivals = append(s.arrivals, a)
		}
	}
	return s
}

// withHosts adds CPUs and memory to the nodes of half of the clusters.
func withHosts(t *rapid.T, c *cluster.Cluster) *cluster.Cluster {
	if rapid.Bool().Draw(t, "without CPUs") {
		return c
	}
	nodes := slices.Clone(c.Nodes())
	for i := range nodes {
		nodes[i].Capacity.CPUs, nodes[i].Capacity.Memory = 64, 512<<30
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// holdsOn reports whether the nodes of one GPU type that a job may use can hold it.
func holdsOn(c *cluster.Cluster, j *job.Spec) bool {
	return slices.ContainsFunc(c.Types(), func(t cluster.TypeInfo) bool {
		gpus := 0
		for _, n := range c.Nodes() {
			if n.GPUType == t.Type && j.MayUse(n.ID) {
				gpus += n.Capacity.GPUs
			}
		}
		return gpus >= j.GPUs
	})
}

// Jobs that may use only some nodes run only there, all of them end, and nodes are not idle for long while the waiting
// job of the highest priority fits on them.
func TestConfined_jobs_start_on_their_nodes(t *testing.T) {
	starts, most := 0, time.Duration(0)
	rapid.Check(t, func(t *rapid.T) {
		p, err := registry.New("oxgang", nil)
		if err != nil {
			t.Fatal(err)
		}
		placer, err := registry.NewPlacer("racks", registry.PlacerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		o := &nodeWatch{fits: make(map[job.ID]time.Time)}
		pl := &play{script: confined(t), policy: p, placer: placer, watch: []scheduler.Observer{o}}
		if err := pl.run(); err != nil {
			t.Fatal(err)
		}
		if all := slices.Concat(o.broken, o.idle); len(all) > 0 {
			t.Fatalf("%d times, first %s", len(all), all[0])
		}
		starts, most = starts+o.starts, max(most, o.most)
	})
	t.Logf("%d starts of jobs that may use only some nodes; the longest wait beside idle nodes was %v", starts, most)
	if starts == 0 {
		t.Error("no job started on its nodes")
	}
}

// Every policy and placer keeps jobs on the nodes that they may use.
func TestConfined_under_every_policy(t *testing.T) {
	genes := map[string]string{"population": "8", "generations": "4"}
	small := map[string]map[string]string{"pollux": genes, "pollux-autoscale": genes} // else minutes
	for _, e := range registry.Policies() {
		t.Run(e.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p, err := registry.New(e.Name, small[e.Name])
				if err != nil {
					t.Fatal(err)
				}
				placer, err := e.NewPlacer(rapid.SampledFrom([]string{"", "submesh", "best-fit", "pack"}).Draw(t, "placer"), registry.PlacerOptions{})
				if err != nil {
					t.Fatal(err)
				}
				o := &nodeWatch{fits: make(map[job.ID]time.Time)}
				if err := (&play{script: confined(t), policy: p, placer: placer, watch: []scheduler.Observer{o}}).run(); err != nil {
					t.Fatal(err)
				}
				if len(o.broken) > 0 {
					t.Fatalf("%d times, first %s", len(o.broken), o.broken[0])
				}
			})
		})
	}
}
