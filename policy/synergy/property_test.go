package synergy_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/pack"
	"github.com/oxgang/oxgang/policy/synergy"
)

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// anyCluster draws one or two GPU types; nodes of one may be richer than others, and
// one in six counts no CPUs.
func anyCluster(t testing.TB, r *rand.Rand) *cluster.Cluster {
	t.Helper()
	var nodes []cluster.Node
	for _, gpu := range []cluster.GPUType{"v100", "t4"}[:1+r.IntN(2)] {
		has := cluster.Resources{GPUs: pick(r, 4, 8, 2)}
		if r.IntN(6) > 0 {
			has.CPUs, has.Memory = float64(has.GPUs)*pick(r, 3, 2.5, 6.0), int64(has.GPUs)*pick(r, int64(62500000000), 64<<30)
		}
		uneven := r.IntN(4) == 0
		for i := range 1 + r.IntN(4) {
			n := cluster.Node{ID: cluster.NodeID(fmt.Sprint(gpu, "-", i)), GPUType: gpu, Capacity: has}
			if uneven && i > 0 {
				n.Capacity.CPUs, n.Capacity.Memory = n.Capacity.CPUs*pick(r, 1, 2.0), n.Capacity.Memory*pick(r, int64(1), 3)
			}
			nodes = append(nodes, n)
		}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// anyJob draws a job: of which nothing is known, or with a CPU curve, or a cache, or
// both.
func anyJob(r *rand.Rand, id job.ID) *policy.Job {
	m := &fed{rate: 1 + 99*r.Float64()}
	if r.IntN(5) > 0 {
		m.input = &perf.Sensitivity{Input: job.Input{Working: pick(r, int64(0), 5e9, 62500000000)}}
		cpus, rate := 0.0, 0.0
		for range r.IntN(7) {
			cpus, rate = cpus+pick(r, 0.5, 1, 3.0), rate+m.rate*r.Float64()/2
			m.input.CPUs = append(m.input.CPUs, perf.CPURate{CPUs: cpus, Rate: rate})
		}
		if r.IntN(2) == 0 {
			m.input.Dataset, m.input.Storage = pick(r, int64(20e9), 200e9, 2000e9), m.rate*(0.05+r.Float64())
		}
	}
	j := &policy.Job{
		Spec:   &job.Spec{ID: id, GPUs: pick(r, 1, 1, 1, 2, 4, 8), Target: m.rate * 1e4 * r.Float64(), Batch: job.BatchLimits{Init: 1, Max: 1}, Adaptivity: job.Rigid},
		Status: job.Status{Phase: job.Waiting, Submitted: epoch, Since: epoch}, Perf: m, Sensitivity: m.input,
	}
	j.Weight = pick(r, 0, 1, 3.0)
	return j
}

// On random snapshots plans keep the rules before and after placement, the same jobs run as with proportional
// shares, and none is slower. RAPID_SEED draws a fifth of ten thousand snapshots; OXGANG_LONG runs all. Source:
// Synergy §4.2.
func TestNobody_is_slower_than_with_its_share(t *testing.T) {
	variants := []func(*synergy.Options){
		func(*synergy.Options) {},
		func(o *synergy.Options) { o.Order = "srtf" },
		func(o *synergy.Options) { o.Cells = synergy.DemandOnly },
		func(o *synergy.Options) { o.Mechanism = synergy.Opt },
		func(o *synergy.Options) { o.Order = "tetris" },
	}
	const all = 10_000
	snapshots := 2_000
	if testing.Short() {
		snapshots = 500
	}
	if draws.Long() {
		snapshots = all
	}
	seed := snapshots * int(draws.Seed(t)%uint64(all/snapshots))
	last := seed + snapshots
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	for ; seed < last && !t.Failed(); seed++ {
		r := rng.Stream(uint64(seed), "shares")
		s := &policy.Snapshot{Now: epoch.Add(time.Hour), Length: 5 * time.Minute, Cluster: anyCluster(t, r)}
		for i := range 1 + r.IntN(40) {
			s.Jobs = append(s.Jobs, anyJob(r, job.ID(fmt.Sprintf("j%02d", i))))
		}
		var o synergy.Options
		p := fresh(t, func(d *synergy.Options) { variants[seed%len(variants)](d); o = *d })
		placer, err := pack.New(pack.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			plan := mustPlan(t, p, s)
			sameJobs(t, s, plan, o)
			plan = placeBy(t, placer, s, plan)
			notSlower(t, s, plan)
			s = follow(s, plan)
			s.Jobs = append(s.Jobs[:0:0], s.Jobs[r.IntN(min(3, len(s.Jobs))):]...)
			s.Jobs = append(s.Jobs, anyJob(r, job.ID(fmt.Sprint("r", s.Round))))
		}
	}
}

// sameJobs checks that those run who would with their shares.
func sameJobs(t *testing.T, s *policy.Snapshot, plan *policy.Plan, o synergy.Options) {
	t.Helper()
	o.Mechanism = synergy.Proportional
	p, err := synergy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	fair := mustPlan(t, p, s)
	for i := range plan.Jobs {
		got, want := plan.Jobs[i].Allocation, fair.Jobs[i].Allocation
		if got.GPUs != want.GPUs || got.GPUType != want.GPUType {
			t.Errorf("job %s gets %v, and would get %v with its share", s.Jobs[i].ID, got.Configuration, want.Configuration)
		}
	}
}

// notSlower checks the speed of every job that runs.
func notSlower(t *testing.T, s *policy.Snapshot, plan *policy.Plan) {
	t.Helper()
	for i, j := range s.Jobs {
		a := plan.Jobs[i].Allocation
		if a.GPUs == 0 {
			continue
		}
		got, want := j.Perf.Throughput(a, job.BatchSize{Local: 1}), proportional(s, j, a.Configuration)
		if got < want*(1-1e-9) {
			t.Errorf("job %s: %v samples/s, and %v with its share", j.ID, got, want)
		}
	}
}
