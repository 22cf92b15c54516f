package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// busy is a script in which jobs of all kinds wait for two small nodes of each
// of two types, some of which fail.
func busy(t testing.TB) *script {
	t.Helper()
	var all []cluster.Node
	for _, id := range []cluster.NodeID{"rtx-0", "rtx-1", "t4-0", "t4-1"} {
		gpu, _, _ := strings.Cut(string(id), "-")
		all = append(all, cluster.Node{ID: id, GPUType: cluster.GPUType(gpu), Capacity: cluster.Resources{GPUs: 4}})
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{cluster: c, catalog: short, world: sim.DefaultOptions(), scheduler: scheduler.DefaultOptions()}
	s.world.Faults = sim.Faults{NodeMTBF: time.Hour, Repair: 20 * time.Minute}
	for i, app := range []string{"cifar10", "bert", "", "deepspeech2", "yolov3", "", "bert", "cifar10", "yolov3", "bert"} {
		a := workload.Arrival{At: time.Duration(i) * 3 * time.Minute, Application: app}
		a.Spec = job.Spec{ID: job.ID(fmt.Sprintf("j%d", i)), GPUs: 1 + i%4, Adaptivity: []job.Adaptivity{job.Adaptive, job.StrongScaling, job.Rigid}[i%3]}
		if app == "" {
			a.Duration, a.Spec.Adaptivity, a.Spec.NonPreemptive = time.Hour, job.Rigid, true
		}
		if err := short.Complete(&a); err != nil {
			t.Fatal(err)
		}
		s.arrivals = append(s.arrivals, a)
	}
	return s
}

// newPlay is busy under a policy and a placer of the tables.
func newPlay(t testing.TB, name string) *play {
	t.Helper()
	p, err := registry.New(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	placer, err := registry.NewPlacer("submesh", registry.PlacerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &play{script: busy(t), policy: p, placer: placer}
}

// A spoiler changes a plan before or after it is placed.
type spoiler struct {
	policy.Policy
	placement.Placer
	spoil func(s *policy.Snapshot, p *policy.Plan)
}

// crowding is a placer that puts every job onto the nodes of the first one of
// its type.
func crowding(s *policy.Snapshot, p *policy.Plan) {
	at := make(map[cluster.Configuration]cluster.Placement)
	for i := range s.Jobs {
		d := &p.Jobs[i]
		if first, ok := at[d.Allocation.Configuration]; ok && !d.Allocation.IsZero() {
			d.Placement = first
		}
		at[d.Allocation.Configuration] = d.Placement
	}
}

// evicting is a policy that preempts non-preemptive jobs.
func evicting(s *policy.Snapshot, p *policy.Plan) {
	for i, j := range s.Jobs {
		if j.NonPreemptive && j.Holding() {
			p.Jobs[i] = policy.Decision{}
		}
	}
}

type spoiltPolicy spoiler

func (p spoiltPolicy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	plan, err := p.Policy.Plan(ctx, s)
	if err == nil {
		p.spoil(s, plan)
	}
	return plan, err
}

type spoiltPlacer spoiler

func (p spoiltPlacer) Place(ctx context.Context, s *policy.Snapshot, plan *policy.Plan) (*policy.Plan, error) {
	plan, err := p.Placer.Place(ctx, s, plan)
	if err == nil {
		p.spoil(s, plan)
	}
	return plan, err
}

// A spoiltWorld hands on other events than there were; nil drops one.
type spoiltWorld struct {
	scheduler.Backend
	change func(ev scheduler.Event) []scheduler.Event
	more   []scheduler.Event
}

func (w *spoiltWorld) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	for {
		if len(w.more) > 0 {
			ev := w.more[0]
			w.more = w.more[1:]
			return ev, nil
		}
		ev, err := w.Backend.Next(ctx, deadline)
		if ev == nil {
			return nil, err
		}
		w.more = w.change(ev)
	}
}

func spoiltBy(change func(ev scheduler.Event) []scheduler.Event) func(scheduler.Backend) scheduler.Backend {
	return func(b scheduler.Backend) scheduler.Backend { return &spoiltWorld{Backend: b, change: change} }
}

// deaf is an observer that some events and actions do not reach.
type deaf struct {
	scheduler.Observer
	event  func(scheduler.Event) bool  // dropped
	action func(scheduler.Action) bool // dropped
}

func (d deaf) Event(now time.Time, ev scheduler.Event) {
	if d.event == nil || !d.event(ev) {
		d.Observer.Event(now, ev)
	}
}

func (d deaf) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	var kept []scheduler.Action
	for _, a := range acts {
		if d.action == nil || !d.action(a) {
			kept = append(kept, a)
		}
	}
	d.Observer.Round(s, p, kept)
}

func preemption(a scheduler.Action) bool { _, ok := a.(scheduler.Preempt); return ok }

func ending(ev scheduler.Event) bool { _, ok := ev.(scheduler.Exited); return ok && !lost(ev) }

func lost(ev scheduler.Event) bool {
	e, ok := ev.(scheduler.Exited)
	return ok && e.Outcome == scheduler.Lost
}

// The seeded bugs strike a run in which nothing else goes wrong.
func TestBusy(t *testing.T) {
	for _, name := range registry.Names() {
		if err := newPlay(t, name).run(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestInvariants_catches seeds a bug into a policy, a placer, the world or the
// metrics: each is told.
func TestInvariants_catches(t *testing.T) {
	isLost := make(map[job.ID]bool)
	for name, c := range map[string]struct {
		seed func(p *play)
		want string
	}{
		"a placer that gives a GPU twice": {func(p *play) {
			p.placer = spoiltPlacer{Placer: p.placer, spoil: crowding}
		}, "placement refused: job j"},
		"a policy that preempts a non-preemptive job": {func(p *play) {
			p.policy = spoiltPolicy{Policy: p.policy, spoil: evicting}
		}, "it is non-preemptive"},
		"a world that ends a job twice": {func(p *play) {
			p.wrap = spoiltBy(func(ev scheduler.Event) []scheduler.Event {
				if ending(ev) {
					return []scheduler.Event{ev, ev}
				}
				return []scheduler.Event{ev}
			})
		}, "scheduler.Exited after it ended"},
		"a world that keeps an end to itself": {func(p *play) {
			p.wrap = spoiltBy(func(ev scheduler.Event) []scheduler.Event {
				if e, ok := ev.(scheduler.Exited); ok && e.Job == "j9" && !lost(ev) {
					return nil
				}
				return []scheduler.Event{ev}
			})
		}, "job j9"},
		"a world that loses a checkpoint": {func(p *play) {
			p.wrap = spoiltBy(func(ev scheduler.Event) []scheduler.Event {
				if e, ok := ev.(scheduler.Exited); ok && lost(e) {
					isLost[e.Job] = true
				}
				if r, ok := ev.(scheduler.Reported); ok && isLost[r.Job] {
					r.Progress /= 2
					return []scheduler.Event{r}
				}
				return []scheduler.Event{ev}
			})
		}, "progress"},
		"a world that gives half a gang": {func(p *play) {
			p.wrap = spoiltBy(func(ev scheduler.Event) []scheduler.Event {
				if r, ok := ev.(scheduler.Reported); ok && r.Configuration.GPUs > 1 && !r.Profile {
					r.Configuration.GPUs /= 2
					return []scheduler.Event{r}
				}
				return []scheduler.Event{ev}
			})
		}, "want what it holds"},
		"metrics that miss a preemption": {func(p *play) {
			p.record = func(to scheduler.Observer) scheduler.Observer {
				return deaf{Observer: to, action: preemption}
			}
		}, "useful and restart"},
		"metrics that miss a loss": {func(p *play) {
			p.record = func(to scheduler.Observer) scheduler.Observer { return deaf{Observer: to, event: lost} }
		}, "useful and restart"},
		"metrics that miss profiles": {func(p *play) {
			p.record = func(to scheduler.Observer) scheduler.Observer {
				return deaf{Observer: to, event: func(ev scheduler.Event) bool {
					r, ok := ev.(scheduler.Reported)
					return ok && r.Profile
				}}
			}
		}, "profiling 0 GPU-s"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, "srtf")
			c.seed(p)
			if err := p.run(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

// TestWorld_keeps_the_contract applies the suite of worlds.
func TestWorld_keeps_the_contract(t *testing.T) {
	s := busy(t)
	schedulertest.RunRepeatable(t, func(t testing.TB) scheduler.Backend {
		w, err := sim.New(s.cluster, s.catalog, s.arrivals, s.world)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}, schedulertest.Drive(s.cluster))
}

// A job of which only the duration is known takes checkpoints too: a failure
// costs it at most the time since the last one, and a restart.
func TestCheckpoints_of_a_job_of_fixed_duration(t *testing.T) {
	p := newPlay(t, "srtf")
	a := p.arrivals[2]
	if a.Application != "" {
		t.Fatalf("got application %q, want a duration", a.Application)
	}
	p.arrivals = []workload.Arrival{a}
	p.world.Faults = sim.Faults{GPUMTBF: time.Hour}
	p.world.Checkpoint = time.Minute
	w, err := sim.New(p.cluster, p.catalog, p.arrivals, p.world)
	if err != nil {
		t.Fatal(err)
	}
	audit, losses := schedulertest.Audit(), 0
	s, err := scheduler.New(p.policy, p.placer, p.cluster, p.scheduler)
	if err != nil {
		t.Fatal(err)
	}
	count := spoiltBy(func(ev scheduler.Event) []scheduler.Event {
		if lost(ev) {
			losses++
		}
		return []scheduler.Event{ev}
	})
	if err := s.Run(t.Context(), count(w), audit); err != nil {
		t.Fatal(err)
	}
	held := audit.Held(a.Spec.ID) / time.Duration(a.Spec.GPUs)
	most := a.Duration + time.Duration(losses+1)*(p.world.Checkpoint+a.Spec.RestartOverhead)
	if losses == 0 || held > most {
		t.Errorf("held GPUs for %v over %d losses, want at least 1 loss and at most %v", held, losses, most)
	}
}

// A job told to train where it does not run fails: it does not keep its GPUs
// and stand still.
func TestRun_where_a_job_does_not_run(t *testing.T) {
	s := busy(t)
	w, err := sim.New(s.cluster, s.catalog, s.arrivals[:1], s.world)
	if err != nil {
		t.Fatal(err)
	}
	run := scheduler.Run{
		Job:        s.arrivals[0].Spec.ID,
		Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "abacus"}},
		Placement:  cluster.Placement{{Node: "t4-0", Resources: cluster.Resources{GPUs: 1}}},
	}
	for _, want := range []string{"scheduler.Submitted", "scheduler.Reported", "scheduler.Exited"} {
		ev, err := w.Next(t.Context(), w.Now().Add(70*time.Second))
		if got := fmt.Sprintf("%T", ev); err != nil || got != want {
			t.Fatalf("got %s, %v, want %s", got, err, want)
		}
		if want == "scheduler.Submitted" {
			if err := w.Do(t.Context(), []scheduler.Action{run}); err != nil {
				t.Fatal(err)
			}
		}
		if e, ok := ev.(scheduler.Exited); ok && e.Outcome != scheduler.Failed {
			t.Errorf("got %v, want the job to fail", e.Outcome)
		}
	}
}
