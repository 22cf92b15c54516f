package sim_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// counted is an application with epochs of 100 samples: a step of 10 samples
// takes a second, one of 20 a second and a half.
var counted = workload.Catalog{"counted": {
	Name: "counted", Model: "counted", Epoch: 100, Slowdown: 1, Speed: twoSpeeds{},
	Batch: job.BatchLimits{Init: 10, Max: 20, LocalMin: 10, LocalMax: map[cluster.GPUType]int{"t4": 20}},
}}

type twoSpeeds struct{}

// Step implements workload.Speed.
func (twoSpeeds) Step(_ cluster.GPUType, _ []int, local int) (step, sync float64, ok bool) {
	return 0.5 + float64(local)/20, 0, local == 10 || local == 20
}

// LocalRange implements workload.Speed.
func (twoSpeeds) LocalRange(cluster.GPUType, []int) (least, most int) { return 10, 20 }

// given returns a job whose batch size doubles after some epochs of 10 samples a step.
func given(id string, small, large int) workload.Arrival {
	return workload.Arrival{Application: "counted", Spec: job.Spec{
		ID: job.ID(id), GPUs: 1, BatchSize: 10, Adaptivity: job.Rigid,
		Schedule: job.BatchSchedule{Mode: job.Given, Regimes: []job.Regime{{BatchSize: 10, Epochs: small}, {BatchSize: 20, Epochs: large}}},
	}}
}

// steady returns a job of so many steps of 10 samples, that counts no epochs.
func steady(id string, steps int) workload.Arrival {
	return workload.Arrival{Application: "counted", Spec: job.Spec{ID: job.ID(id), GPUs: 1, BatchSize: 10, Target: 10 * float64(steps), Adaptivity: job.Rigid}}
}

// listed is a policy that runs jobs by a list of rounds, the last for ever, with a
// batch size that jobs with a schedule ignore.
type listed struct {
	rounds []string
	next   int
}

func (*listed) Traits() policy.Traits { return policy.Traits{} }

// Plan implements policy.Policy.
func (l *listed) Plan(_ context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p := &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}
	names := strings.Fields(l.rounds[min(l.next, len(l.rounds)-1)])
	l.next++
	for i, j := range s.Jobs {
		if slices.Contains(names, string(j.ID)) {
			p.Jobs[i].Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: j.GPUs, GPUType: "t4"}
			if j.Schedule.Mode != job.Unscheduled {
				p.Jobs[i].Batch = job.BatchSize{Local: 10}
			}
		}
	}
	return p, nil
}

// told keeps what jobs report beside measurements.
type told []string

// Event implements scheduler.Observer.
func (r *told) Event(now time.Time, ev scheduler.Event) {
	if rep, ok := ev.(scheduler.Reported); ok {
		line := now.Sub(sim.Epoch).String() + " epoch " + string(rune('0'+rep.Epoch)) + " batch " + string(rune('0'+rep.Batch.Local/10)) + "0"
		if n := len(*r); n == 0 || (*r)[n-1] != line {
			*r = append(*r, line)
		}
	}
}

// Round implements scheduler.Observer.
func (*told) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {}

// watched runs jobs on one node of four GPUs by a list of rounds, and returns when
// they end.
func watched(t *testing.T, o sim.Options, round time.Duration, rounds []string, seen *told, jobs ...workload.Arrival) map[job.ID]float64 {
	t.Helper()
	for i := range jobs {
		if err := counted.Complete(&jobs[i]); err != nil {
			t.Fatal(err)
		}
	}
	c := fours(t, "n")
	w, err := sim.New(c, counted, jobs, o)
	if err != nil {
		t.Fatal(err)
	}
	so := scheduler.DefaultOptions()
	so.Round, so.First, so.Profile = round, time.Nanosecond, false
	s, err := scheduler.New(&listed{rounds: rounds}, submesh.New(submesh.DefaultOptions()), c, so)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := metrics.New(metrics.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), w, rec, seen); err != nil {
		t.Fatal(err)
	}
	ends := map[job.ID]float64{}
	for _, j := range rec.Result().Jobs {
		ends[j.ID] = j.Finished
	}
	return ends
}

// A job with a schedule changes its batch size where its epochs say, whatever the
// plan says, and reports it at once.
func TestSchedule_is_followed(t *testing.T) {
	o := sim.DefaultOptions()
	o.Restart, o.ReportInterval = new(time.Duration), time.Hour
	var seen told
	got := watched(t, o, time.Hour, []string{"j"}, &seen, given("j", 1, 2))
	if diff := cmp.Diff(map[job.ID]float64{"j": 1e-9 + 10 + 2*7.5}, got); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	want := told{"1ns epoch 0 batch 10", "10.000000001s epoch 0 batch 10", "10.000000001s epoch 1 batch 20"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

// The rules of the public Gavel and Shockwave simulators, each by itself, on jobs
// of steps of a second.
func TestWorld_whole_rounds(t *testing.T) {
	const s = time.Second
	for _, tc := range []struct {
		name   string
		set    func(*sim.Public)
		round  time.Duration
		rounds []string
		jobs   []workload.Arrival
		want   map[job.ID]float64
	}{
		{
			"a round ends with its last whole step", nil, 4500 * time.Millisecond,
			[]string{"a"},
			[]workload.Arrival{steady("a", 10)},
			map[job.ID]float64{"a": 4 + 4 + 2},
		},
		{
			"the slowest job ends the round", nil, 4500 * time.Millisecond,
			[]string{"a b"},
			[]workload.Arrival{steady("a", 10), {Application: "counted", Spec: job.Spec{ID: "b", GPUs: 1, BatchSize: 20, Target: 200, Adaptivity: job.Rigid}}},
			map[job.ID]float64{"a": 4.5 + 4.5 + 2, "b": 15},
		},
		{
			"a job of which no step fits fails", nil, time.Second,
			[]string{"a b"},
			[]workload.Arrival{steady("a", 10), {Application: "counted", Spec: job.Spec{ID: "b", GPUs: 1, BatchSize: 20, Target: 200, Adaptivity: job.Rigid}}},
			map[job.ID]float64{"a": 10, "b": 0},
		},
		{
			"resuming is free", nil, 100 * s,
			[]string{"j k", "k", "j k"},
			[]workload.Arrival{steady("j", 290), steady("k", 1000)},
			map[job.ID]float64{"j": 390, "k": 1000},
		},
		{
			"resuming costs 20 s of a full round, but of the first", func(p *sim.Public) { p.ResumeLoss = 20 * s }, 100 * s,
			[]string{"j k", "k", "j k"},
			[]workload.Arrival{steady("j", 290), steady("k", 1000)},
			map[job.ID]float64{"j": 410, "k": 1000},
		},
		{
			"resuming costs nothing of a round that is not full", func(p *sim.Public) { p.ResumeLoss = 20 * s }, 100 * s,
			[]string{"k", "j k"},
			[]workload.Arrival{steady("j", 95), steady("k", 300)},
			map[job.ID]float64{"j": 195, "k": 300},
		},
		{
			"batch sizes change at the end of a round", nil, 10 * s,
			[]string{"j"},
			[]workload.Arrival{given("j", 1, 2)},
			map[job.ID]float64{"j": 10 + 6*1.5 + 4*1.5},
		},
		{
			"batch sizes change a round late, and round epochs up", func(p *sim.Public) { p.LateRegimes = true }, 10 * s,
			[]string{"j"},
			[]workload.Arrival{given("j", 1, 2)},
			map[job.ID]float64{"j": 10 + 10 + 5*1.5},
		},
		{
			"a job that is left no step is given up after five rounds", func(p *sim.Public) { p.LateRegimes = true }, 9500 * time.Millisecond,
			[]string{"j k"},
			[]workload.Arrival{given("j", 1, 1), steady("k", 100)},
			map[job.ID]float64{"j": 6 * 9, "k": 100},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := sim.DefaultOptions()
			o.Public.WholeRounds = true
			if tc.set != nil {
				tc.set(&o.Public)
			}
			if diff := cmp.Diff(tc.want, watched(t, o, tc.round, tc.rounds, new(told), tc.jobs...)); diff != "" {
				t.Errorf("ends (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPublic_refuses(t *testing.T) {
	for _, tc := range []struct {
		set  func(*sim.Public)
		want string
	}{
		{func(p *sim.Public) { p.WholeRounds, p.ResumeLoss = true, -1 }, "resume loss -1ns, want at least 0"},
		{func(p *sim.Public) { p.LateRegimes = true }, "resume loss 0s, late regimes true: want whole rounds with them"},
		{func(p *sim.Public) { p.WholeIterations = true }, "whole iterations, want exit on round with them: what a job did is counted at its end"},
		{func(p *sim.Public) { p.WholeRounds, p.ExitOnRound = true, true }, "whole rounds and exit on round, want one of them: they end rounds differently"},
	} {
		o := sim.DefaultOptions()
		tc.set(&o.Public)
		if err := o.Validate(); err == nil || err.Error() != tc.want {
			t.Errorf("got error %v, want %s", err, tc.want)
		}
	}
}

func TestNew_refuses_what_cannot_be_counted(t *testing.T) {
	catalog := profiles.Default()
	bert := workload.Arrival{Application: "bert", Spec: job.Spec{ID: "b", GPUs: 1}}
	if err := catalog.Complete(&bert); err != nil {
		t.Fatal(err)
	}
	o := sim.DefaultOptions()
	o.Public.WholeRounds = true
	want := "sim: job b: application bert has a training curve, want jobs that count steps with whole rounds"
	if _, err := sim.New(fours(t, "n"), catalog, []workload.Arrival{bert}, o); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	bert.Spec.Schedule.Mode = job.GNS
	want = `sim: job b: schedule gns: application "bert" counts no epochs, want none of its jobs to have a schedule`
	if _, err := sim.New(fours(t, "n"), catalog, []workload.Arrival{bert}, sim.DefaultOptions()); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}
