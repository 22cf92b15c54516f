package shockwave

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*math.Max(1, math.Abs(want))) {
		t.Errorf("%s: got %g, want %g", what, got, want)
	}
}

// Shockwave App. G, "Example": a job at epoch 5 is expected to enter its second regime at
// epoch 15; epochs take two minutes, then one. "Dynamic adaptation can start as early as
// the 20th minute in the window".
func TestForecast_is_regime_after_regime(t *testing.T) {
	f := forecast{{10, 1. / 120}, {25, 1. / 60}} // epochs, epochs per second
	near(t, "epochs in 20 minutes", f.run(20*60), 10)
	near(t, "epochs in 30 minutes", f.run(30*60), 20)
	near(t, "minutes to the end", f.time()/60, 45)
	near(t, "minutes after 12 epochs", f.after(12).time()/60, 23)
	near(t, "epochs in an hour", f.run(3600), 35)
	near(t, "epochs in an hour, if it went on", f.extended(3600), 50)
	near(t, "minutes after the end", f.after(35).time(), 0)
	near(t, "epochs in no time", f.run(-5), 0)
}

// halves trains a sample a second with a batch of 10 on any GPUs, and twice as many with 20.
type halves struct{}

func (halves) Throughput(_ cluster.Allocation, b job.BatchSize) float64 { return float64(b.Local) / 10 }
func (halves) Efficiency(float64) float64                               { return 1 }
func (halves) StepTime(cluster.Allocation) perf.StepTime                { return perf.StepTime{} }

// meetOne returns a policy that has met one job in a cluster of one GPU, and its account.
func meetOne(t *testing.T, o Options, j *policy.Job) (*Policy, *account) {
	t.Helper()
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "g", Capacity: cluster.Resources{GPUs: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := &policy.Snapshot{Now: time.Unix(1e9, 0), Length: 2 * time.Minute, Cluster: c, Jobs: []*policy.Job{j}}
	p.update(s, grant.NewRound(s))
	return p, p.active[0]
}

// scheduled returns a job of 100 epochs of 60 samples, that is in an epoch with a batch
// size, of the two that it goes through.
func scheduled(epoch, batch int) *policy.Job {
	spec := &job.Spec{ID: "j", GPUs: 1, BatchSize: 10, Target: 6000, Adaptivity: job.Rigid, Batch: job.BatchLimits{Init: 10, Max: 20}}
	spec.Schedule = job.BatchSchedule{Mode: job.GNS, Epochs: 100, Sizes: []int{10, 20}}
	j := &policy.Job{Spec: spec, Limits: &spec.Batch, Perf: halves{}}
	j.Phase, j.Submitted, j.Since = job.Running, time.Unix(1e9-3600, 0), time.Unix(1e9-3600, 0)
	j.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "g"}
	j.Epoch, j.Progress, j.Status.Batch = epoch, float64(epoch)*60+30, job.BatchSize{Local: batch}
	return j
}

// Shockwave §5: the prior has regimes of equal length; one that is over is as it was, and
// the others share what is left. Epochs take 60 s, then 30 s.
func TestExpectation_follows_the_regimes(t *testing.T) {
	for _, test := range []struct {
		name       string
		epoch      int
		batch      int
		left, past float64
	}{
		{"within the first", 20, 10, 29.5*60 + 50*30, 20 * 60},
		{"the first is longer than expected", 70, 10, 29.5 * 60 / 2, 70 * 60}, // and about to end
		{"the second began", 20, 20, 79.5 * 30, 20 * 60},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, a := meetOne(t, DefaultOptions(), scheduled(test.epoch, test.batch))
			near(t, "seconds left", a.options[0].ahead.time(), test.left)
			near(t, "seconds past", a.past, test.past)
		})
	}
}

// A job whose schedule cannot be followed is planned with the batch size that it has.
func TestExpectation_of_odd_schedules(t *testing.T) {
	unknown := scheduled(20, 15)
	none := scheduled(20, 20)
	none.Spec.Schedule.Epochs = 0
	for _, j := range []*policy.Job{unknown, none} {
		_, a := meetOne(t, DefaultOptions(), j)
		if !a.unpredictable || a.predictor != nil {
			t.Errorf("batch size %d: followed, want it planned as it is", j.Status.Batch.Local)
		}
		near(t, "seconds left", a.options[0].ahead.time(), (6000-20*60-30)*10/float64(j.Status.Batch.Local))
	}
}

// Regimes that a user wrote down need no prediction.
func TestExpectation_of_stated_regimes(t *testing.T) {
	j := scheduled(20, 10)
	j.Spec.Schedule = job.BatchSchedule{Mode: job.Given, Regimes: []job.Regime{{BatchSize: 10, Epochs: 90}, {BatchSize: 20, Epochs: 10}}}
	_, a := meetOne(t, DefaultOptions(), j)
	near(t, "seconds left", a.options[0].ahead.time(), 69.5*60+10*30)
	near(t, "seconds past", a.past, 20*60)
}

// Predicted times are wrong by at most Error, and differently for each seed.
func TestExpectation_error(t *testing.T) {
	seen := map[float64]bool{}
	for seed := range uint64(20) {
		o := DefaultOptions()
		o.Error, o.Seed = 0.5, seed
		_, a := meetOne(t, o, scheduled(0, 10))
		ratio := a.options[0].ahead.time() / (49.5*60 + 50*30)
		if seen[ratio] = true; ratio < 0.5 || ratio > 1.5 {
			t.Errorf("seed %d: %g times the time, want 0.5 to 1.5", seed, ratio)
		}
	}
	if len(seen) < 15 {
		t.Errorf("%d different errors of 20", len(seen))
	}
}

// Without a model or a target a job is taken for half done, or one that needs a window.
func TestExpectation_of_unknown_jobs(t *testing.T) {
	j := scheduled(20, 10)
	j.Perf = nil
	_, a := meetOne(t, DefaultOptions(), j) // which had an hour of service
	near(t, "seconds left", a.options[0].ahead.time(), 3600+2400)
	near(t, "seconds past", a.past, 3600)
}

// A job that was submitted without a batch size has no regime to start from.
func TestExpectation_without_a_batch_size(t *testing.T) {
	j := scheduled(20, 10)
	j.Spec.BatchSize = 0
	_, a := meetOne(t, DefaultOptions(), j)
	if a.predictor != nil {
		t.Error("followed, want it planned with the 10 that it has")
	}
	near(t, "seconds left", a.options[0].ahead.time(), 6000-20*60-30)
	near(t, "seconds past", a.past, 20*60+30)
}
