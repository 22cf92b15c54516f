package sim_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// crowd is when the seven others come: the first job has seen all sizes by then.
const crowd = 20 * time.Minute

// amdahl is a job of a fixed batch of 512 samples, which 5 % of its work does not share out:
// one GPU takes a second for a batch.
type amdahl struct{}

// Step implements workload.Speed.
func (amdahl) Step(_ cluster.GPUType, _ []int, local int) (step, sync float64, ok bool) {
	return 0.05 + 0.95*float64(local)/512, 0, true
}

// LocalRange implements workload.Speed.
func (amdahl) LocalRange(cluster.GPUType, []int) (least, most int) { return 1, 512 }

// A kind of lie.
type kind string

const (
	steps kind = "steps" // what is said of steps
	alike kind = "alike" // the same, and progress is as if that was true
	size  kind = "size"  // what is said of the job when it is submitted
	late  kind = "late"  // the same, by one of those that come later
)

// A lie changes what a job says of itself.
type lie struct {
	name   string
	kind   kind
	tell   func(*job.Report)
	submit func(*job.Spec)
}

// A ruler is a policy that jobs lie to.
type ruler struct {
	name     string
	settings map[string]string
}

func sia(p string) ruler { return ruler{"sia", map[string]string{"p": p}} }

// oxgang returns Oxgang's policy, with sizes from somewhere.
func oxgang(sizes string) ruler { return ruler{"oxgang", map[string]string{"sizes": sizes}} }

func (r ruler) String() string { return fmt.Sprint(r.name, " ", r.settings) }

// A stage is a world in which a job lies, and which ends after two hours.
type stage struct {
	*sim.World
	liar     job.ID
	lie      *lie
	progress map[job.ID]float64 // true
	before   map[job.ID]float64 // of progress, until the crowd has settled
	told     float64            // progress of the liar, as it says
}

// Next implements scheduler.Backend.
func (s *stage) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	if deadline.After(sim.Epoch.Add(2 * time.Hour)) {
		return nil, io.EOF
	}
	ev, err := s.World.Next(ctx, deadline)
	if sub, ok := ev.(scheduler.Submitted); ok && s.lie != nil && s.lie.submit != nil && sub.Spec.ID == s.liar {
		spec := *sub.Spec
		s.lie.submit(&spec)
		sub.Spec = &spec
		return sub, err
	}
	r, ok := ev.(scheduler.Reported)
	if !ok {
		return ev, err
	}
	made := r.Progress - s.progress[r.Job]
	if s.Now().Before(sim.Epoch.Add(crowd + 5*time.Minute)) {
		s.before[r.Job] = r.Progress
	}
	if !r.Profile {
		s.progress[r.Job] = r.Progress
	}
	if r.Job == s.liar && s.lie != nil && s.lie.tell != nil {
		step := r.StepTime
		if s.lie.tell(&r.Report); !r.Profile {
			if s.lie.kind == alike && r.StepTime > 0 {
				made *= step.Seconds() / r.StepTime.Seconds()
			}
			s.told += made
			r.Progress = s.told
		}
	}
	return r, err
}

// played returns the true progress of one job and of the seven others while eight identical jobs share
// 32 GPUs by a policy: from when the crowd has settled until the end.
func played(t *testing.T, by ruler, verify bool, who job.ID, l *lie) (liar, others float64) {
	t.Helper()
	nodes := make([]cluster.Node, 8)
	for i := range nodes {
		nodes[i] = cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), GPUType: "a100", Capacity: cluster.Resources{GPUs: 4}}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	app := &workload.Application{Name: "amdahl", Model: "amdahl", Slowdown: 1, Speed: amdahl{}, RestartDelay: 30 * time.Second, Batch: job.BatchLimits{Init: 512, Max: 512, LocalMin: 1}}
	catalog := workload.Catalog{"amdahl": app}
	jobs := make([]workload.Arrival, 8)
	for i := range jobs {
		jobs[i] = workload.Arrival{Application: "amdahl", Spec: job.Spec{
			ID: job.ID(fmt.Sprintf("j%d", i)), GPUs: 4, BatchSize: 512, MaxGPUs: 16, Adaptivity: job.StrongScaling, Target: 1e9, Batch: app.Batch,
		}}
		if i > 0 {
			jobs[i].At = crowd
		}
		if err := catalog.Complete(&jobs[i]); err != nil {
			t.Fatal(err)
		}
	}
	w, err := sim.New(c, catalog, jobs, sim.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	p, err := registry.New(by.name, by.settings)
	if err != nil {
		t.Fatal(err)
	}
	placer, err := registry.NewPlacer("submesh", registry.PlacerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := scheduler.DefaultOptions()
	o.Estimate.Verify, o.Estimate.Share = verify, p.Traits().Pools
	s, err := scheduler.New(p, placer, c, o)
	if err != nil {
		t.Fatal(err)
	}
	world := &stage{World: w, liar: who, lie: l, progress: make(map[job.ID]float64), before: make(map[job.ID]float64)}
	if err := s.Run(t.Context(), world); err != nil {
		t.Fatal(err)
	}
	for id, done := range world.progress {
		done -= world.before[id]
		if id == who {
			liar = done
		} else {
			others += done
		}
	}
	return liar, others
}

func scaled(r *job.Report, by float64) {
	r.StepTime = time.Duration(float64(r.StepTime) * by)
	r.SyncTime = time.Duration(float64(r.SyncTime) * by)
}

// lies is the library: those of which a search over speed-up curves found that they pay,
// those that are easiest to tell, and others drawn at random.
func lies() []lie {
	var all []lie
	for _, base := range []lie{
		{name: "four times as fast", tell: func(r *job.Report) { scaled(r, 0.25) }},
		{name: "useless below 8, superb at 8", tell: func(r *job.Report) {
			if r.Configuration.GPUs < 8 {
				scaled(r, float64(r.Configuration.GPUs))
			} else {
				scaled(r, 0.25)
			}
		}},
		{name: "slow on one GPU", tell: func(r *job.Report) {
			if r.Configuration.GPUs == 1 {
				scaled(r, 4)
			}
		}},
		{name: "useless on one node, superb on two", tell: func(r *job.Report) {
			switch n := r.Configuration; {
			case n.Nodes > 1:
				scaled(r, 0.25)
			case n.GPUs > 1:
				r.StepTime *= 8
				r.SyncTime = r.StepTime * 7 / 8
			}
		}},
		{name: "hardly faster on one node, linear on two", tell: func(r *job.Report) {
			n := float64(r.Configuration.GPUs)
			compute := time.Duration(float64(time.Second) / n)
			if r.StepTime, r.SyncTime = compute, 0; r.Configuration.Nodes == 1 {
				r.StepTime = time.Duration(float64(time.Second) / (1 + math.Log2(n)/5))
				r.SyncTime = r.StepTime - compute
			}
		}},
		{name: "linear", tell: func(r *job.Report) {
			r.StepTime = time.Duration(float64(time.Second) * float64(r.Batch.Local) / 512)
		}},
		{name: "fast at its size only", tell: func(r *job.Report) {
			if r.Configuration.GPUs == 4 {
				scaled(r, 0.25)
			}
		}},
		{name: "much noise", tell: func(r *job.Report) { r.GradSqr, r.GradVar = 1e-6, 1e6 }},
	} {
		base.kind = steps
		all = append(all, base, lie{name: base.name + ", and progress alike", kind: alike, tell: base.tell})
	}
	for seed := range uint64(12) {
		all = append(all, drawn(seed))
	}
	for _, times := range []float64{1e-6, 0.01, 0.1, 0.5, 2, 10} {
		for _, of := range []kind{size, late} {
			all = append(all, lie{kind: of, name: fmt.Sprintf("%g times as long as it is", times), submit: func(s *job.Spec) { s.Target *= times }})
		}
	}
	return append(all, lie{kind: size, name: "of no known length", submit: func(s *job.Spec) { s.Target = 0 }})
}

// drawn returns a lie of a random speed on each number of GPUs, up to four times wrong.
func drawn(seed uint64) lie {
	r := rng.Stream(seed, "lie")
	var by [5]float64
	for i := range by {
		by[i] = math.Exp2(4*r.Float64() - 2)
	}
	share := r.Float64() / 2
	return lie{name: fmt.Sprintf("drawn %d", seed), kind: [...]kind{steps, alike}[seed%2], tell: func(r *job.Report) {
		scaled(r, by[min(4, int(math.Log2(float64(max(1, r.Configuration.GPUs)))))])
		if r.Configuration.GPUs > 1 {
			r.SyncTime = time.Duration(share * float64(r.StepTime))
		}
	}}
}

// An index is what the best lie gains, over honesty, and the worst does to others.
type index struct {
	gain float64 // true progress of the liar over that of an honest job
	loss float64 // of the others' progress, a share
	by   string  // the lie that gains most
}

// manipulability returns the index of a policy, of one kind of lies.
func manipulability(t *testing.T, p ruler, verify bool, of kind) index {
	t.Helper()
	who := job.ID("j0")
	if of == late {
		who = "j1"
	}
	honest, others := played(t, p, verify, who, nil)
	var x index
	for _, l := range lies() {
		if l.kind != of {
			continue
		}
		liar, rest := played(t, p, verify, who, &l)
		if gain := liar / honest; gain > x.gain {
			x.gain, x.by = gain, l.name
		}
		x.loss = max(x.loss, 1-rest/others)
	}
	t.Logf("%s, verified %v, lies of %s: %+v", p, verify, of, x)
	return x
}

// bounded reports whether lies gain at most 5 % and cost others at most 2 %.
func (x index) bounded() bool { return x.gain <= 1.05 && x.loss <= 0.02 }

// TestManipulability is docs/experiments/manipulability.md. Where the defences are off the
// check fails, so that it can.
func TestManipulability(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates some hundred runs, without goroutines of its own")
	}
	for _, tc := range []struct {
		by     ruler
		verify bool
		of     kind
		want   bool
	}{
		{sia("-0.5"), false, steps, true},
		{sia("-0.5"), false, alike, true},
		{sia("-0.5"), true, steps, true},
		{sia("-0.5"), true, alike, true},
		{sia("-0.5"), true, size, true},
		{sia("0.5"), false, steps, false}, // the control
		{sia("0.5"), true, steps, true},
		{sia("0.5"), true, alike, false}, // falls short: see there
		{oxgang("class"), true, steps, true},
		{oxgang("class"), true, alike, false},  // no gain, but the others lose: see there
		{oxgang("class"), false, steps, false}, // likewise
		{oxgang("class"), true, size, true},
		{oxgang("attained"), true, size, true},
		{oxgang("stated"), true, size, true},
		{oxgang("class"), true, late, true},
		{oxgang("stated"), true, late, true},
	} {
		if x := manipulability(t, tc.by, tc.verify, tc.of); x.bounded() != tc.want {
			t.Errorf("%s, verified %v, lies of %s: %+v, want it bounded: %v", tc.by, tc.verify, tc.of, x, tc.want)
		}
	}
}
