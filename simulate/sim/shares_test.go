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

// shareWindow is the time over which docs/adr/0064-shares-of-tenants.md guarantees shares, with rounds of a minute.
const shareWindow = 3 * time.Minute

// A use is what a tenant has of a GPU type in a round.
type use struct {
	at          time.Time
	gpus, share float64
	gang        float64 // GPUs of the smallest waiting job that fits into the share; 0: none waits
}

// shares observes what tenants have.
type shares struct {
	uses   map[string][]use // by tenant and GPU type
	broken []string
}

func (*shares) Event(time.Time, scheduler.Event) {}

func (o *shares) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	parts := parts(s.Jobs)
	for _, t := range s.Cluster.Types() {
		for tenant, part := range parts {
			u := use{at: s.Now, share: part * float64(t.GPUs)}
			for i, j := range s.Jobs {
				if j.User == tenant {
					u.add(j, &p.Jobs[i].Allocation, t.Type)
				}
			}
			key := tenant + " " + string(t.Type)
			o.uses[key] = append(o.uses[key], u)
		}
	}
	for i, j := range s.Jobs {
		if j.Phase == job.Running && p.Jobs[i].Allocation.IsZero() {
			o.stops(s, p, j, parts[j.User])
		}
	}
}

func (u *use) add(j *policy.Job, a *cluster.Allocation, t cluster.GPUType) {
	gang := float64(j.GPUs)
	switch {
	case a.GPUType == t:
		u.gpus += float64(a.GPUs)
	case a.IsZero() && j.Eligible(t) && gang <= u.share+1e-9 && (u.gang == 0 || gang < u.gang):
		u.gang = gang
	}
}

// stops checks that a job that stops was borrowing: its tenant's share has no room for it after the round.
func (o *shares) stops(s *policy.Snapshot, p *policy.Plan, j *policy.Job, part float64) {
	has, t := 0, j.Allocation.GPUType
	for i, other := range s.Jobs {
		if a := &p.Jobs[i].Allocation; other.User == j.User && a.GPUType == t {
			has += a.GPUs
		}
	}
	if share := part * float64(s.Cluster.Types()[s.Cluster.TypeIndex(t)].GPUs); float64(has+j.Allocation.GPUs) <= share+1e-9 {
		o.broken = append(o.broken, fmt.Sprintf("%v: %s of %s stops, and its tenant keeps %d of %.1f %s", s.Now, j.ID, j.User, has, share, t))
	}
}

func parts(jobs []*policy.Job) map[string]float64 {
	all, sum := make(map[string]float64), 0.0
	for _, j := range jobs {
		if all[j.User] == 0 {
			all[j.User], sum = j.Weight, sum+j.Weight
		}
	}
	for tenant := range all {
		all[tenant] /= sum
	}
	return all
}

// windows checks every window of at least shareWindow in which a job of the tenant waits all the time.
func (o *shares) windows() {
	for key, all := range o.uses {
		for from := range all {
			lack := 0.0
			for _, u := range all[from:] {
				if u.gang == 0 {
					break
				}
				lack += u.share - u.gang - u.gpus
				if u.at.Sub(all[from].at) >= shareWindow && lack > 1e-6 {
					o.broken = append(o.broken, fmt.Sprintf("%s: from %v to %v on average less than its share of %.1f less a gang of %.0f", key, all[from].at, u.at, u.share, u.gang))
					break
				}
			}
		}
	}
	slices.Sort(o.broken)
}

// Tenants with gangs and small jobs, with and without checkpoints, play for hours. Each tenant whose jobs wait has its
// share of each GPU type less one gang, and only borrowers stop for other tenants.
func TestShares_hold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := registry.New("oxgang", map[string]string{"guarantee": "user"})
		if err != nil {
			t.Fatal(err)
		}
		placer, err := registry.NewPlacer("racks", registry.PlacerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		o := &shares{uses: make(map[string][]use)}
		pl := &play{script: tenants(t), policy: p, placer: placer, watch: []scheduler.Observer{o}}
		if err := pl.run(); err != nil {
			t.Fatal(err)
		}
		if o.windows(); len(o.broken) > 0 {
			t.Fatalf("%d times, first %s", len(o.broken), o.broken[0])
		}
	})
}

// tenants draws two to four tenants with weights, and jobs that request more than the cluster has.
func tenants(t *rapid.T) *script {
	s := &script{cluster: eights(t), catalog: short, world: sim.DefaultOptions(), scheduler: scheduler.DefaultOptions()}
	s.scheduler.Profile = false
	s.scheduler.Estimate = estimates(t, short)
	s.world.Estimate = s.scheduler.Estimate
	weights := rapid.SliceOfN(rapid.IntRange(1, 4), 2, 4).Draw(t, "weights")
	for i := range rapid.IntRange(10, 60).Draw(t, "jobs") {
		a := ofTenant(t, weights)
		a.Spec.ID = job.ID(fmt.Sprintf("j%02d", i))
		if err := short.Complete(&a); err != nil {
			t.Fatal(err)
		}
		if sim.Fits(s.cluster, &a.Spec) == nil {
			s.arrivals = append(s.arrivals, a)
		}
	}
	return s
}

// eights draws nodes of 8 GPUs, of one or two types.
func eights(t *rapid.T) *cluster.Cluster {
	var all []cluster.Node
	for _, gpu := range []cluster.GPUType{"a100", "t4"}[:rapid.IntRange(1, 2).Draw(t, "types")] {
		for i := range rapid.IntRange(2, 6).Draw(t, "nodes") {
			all = append(all, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("%s-%d", gpu, i)), GPUType: gpu, Capacity: cluster.Resources{GPUs: 8}})
		}
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ofTenant draws a job. One without checkpoints has whole nodes: the guarantee excludes GPUs scattered over nodes.
func ofTenant(t *rapid.T, weights []int) (a workload.Arrival) {
	n := rapid.IntRange(0, len(weights)-1).Draw(t, "tenant")
	a.At = time.Duration(rapid.IntRange(0, 5*3600).Draw(t, "arrival in seconds")) * time.Second
	a.Duration = time.Duration(rapid.IntRange(300, 3*3600).Draw(t, "duration in seconds")) * time.Second
	a.Spec.User, a.Spec.Weight, a.Spec.Adaptivity = fmt.Sprint("tenant", n), float64(weights[n]), job.Rigid
	sizes := []int{1, 2, 4, 8, 16, 24}
	if a.Spec.NoCheckpoint = rapid.Bool().Draw(t, "without checkpoints"); a.Spec.NoCheckpoint {
		sizes = []int{8, 16, 24}
	}
	a.Spec.GPUs = rapid.SampledFrom(sizes).Draw(t, "GPUs")
	if !a.Spec.NoCheckpoint && oneIn(t, 3, "elastic") {
		a.Application, a.Duration, a.Spec.Adaptivity = "cifar10", 0, job.StrongScaling
	}
	return a
}

// Small jobs without checkpoints fill all nodes of another tenant's share. They stop on whole nodes, not here and there.
func TestShares_make_room_on_nodes(t *testing.T) {
	nodes := make([]cluster.Node, 4)
	for i := range nodes {
		nodes[i] = cluster.Node{ID: cluster.NodeID(fmt.Sprint("n", i)), GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{cluster: c, catalog: short, world: sim.DefaultOptions(), scheduler: scheduler.DefaultOptions()}
	s.scheduler.Profile = false
	for i := range 50 { // every other of the first 32 jobs ends early, and others take its place
		a := workload.Arrival{Duration: 2 * time.Hour, Spec: job.Spec{ID: job.ID(fmt.Sprintf("j%02d", i)), User: "small", Weight: 1, GPUs: 1, NoCheckpoint: true, Adaptivity: job.Rigid}}
		switch {
		case i < 32 && i%2 == 1:
			a.Duration = 20 * time.Minute
		case i >= 48:
			a.At, a.Spec.User, a.Spec.GPUs = 40*time.Minute, "large", 8
		case i >= 32:
			a.At = 22 * time.Minute
		}
		if err := short.Complete(&a); err != nil {
			t.Fatal(err)
		}
		s.arrivals = append(s.arrivals, a)
	}
	p, err := registry.New("oxgang", map[string]string{"guarantee": "user"})
	if err != nil {
		t.Fatal(err)
	}
	placer, err := registry.NewPlacer("racks", registry.PlacerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := &shares{uses: make(map[string][]use)}
	if err := (&play{script: s, policy: p, placer: placer, watch: []scheduler.Observer{o}}).run(); err != nil {
		t.Fatal(err)
	}
	for _, u := range o.uses["large a100"] {
		if late := u.at.Sub(sim.Epoch) - 40*time.Minute; late >= shareWindow && late < 30*time.Minute && u.gpus != 16 {
			t.Errorf("%v after the submission: %g GPUs, want 16", late, u.gpus)
		}
	}
}
