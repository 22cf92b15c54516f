package workload

import (
	"fmt"

	"github.com/oxgang/oxgang/model/job"
)

type model struct {
	name  string
	epoch int // samples of its dataset
	most  int // largest samples per GPU under Accordion; 0: no change
	// critical reports whether Accordion keeps the first batch size, of local samples per GPU, in an epoch.
	// Nil: the rules do not know the model.
	critical func(local, epoch int) bool
	// always is critical in the public simulator, if different.
	always func(local, epoch int) bool
}

// models are the models of Gavel's traces. Source: public Shockwave traces, which name datasets, largest
// batch sizes and critical epochs.
var models = []model{
	{"ResNet-18", 50_000, 256, func(_, e int) bool { return e < 10 || within(e, 150) || within(e, 250) }, nil},
	{"ResNet-50", 100_000, 128, func(_, e int) bool { return e < 600 && e%30 < 10 }, func(_, e int) bool { return e%30 < 10 }},
	{"Transformer", 10_000, 0, func(int, int) bool { return true }, nil},
	{"LM", 59_675, 80, func(_, e int) bool { return e < 10 }, nil},
	{
		"Recommendation", 117_907, 8192,
		func(b, e int) bool { return e < warmup(b) || within(e, 60) || within(e, 80) },
		func(b, e int) bool { return e < warmup(b) },
	},
	{"CycleGAN", 6287, 0, nil, nil},
	{"A3C", 4, 0, nil, nil},
}

func within(epoch, first int) bool { return first <= epoch && epoch < first+10 }

func warmup(local int) int {
	switch {
	case local <= 1024:
		return 30
	case local <= 2048:
		return 40
	}
	return 10
}

// EpochSamples returns the number of samples in the dataset of a model of Gavel's traces, or 0 for other models.
func EpochSamples(name string) int {
	if m := findModel(name); m != nil {
		return m.epoch
	}
	return 0
}

func findModel(name string) *model {
	for i := range models {
		if models[i].name == name {
			return &models[i]
		}
	}
	return nil
}

// calm is the share of epochs in which Accordion changes nothing. Source: public Shockwave profiles.
const calm = 0.3

func (a *Application) rule(mode job.ScheduleMode, local, gpus, n int) (func(epoch int) int, error) {
	if mode == job.Static {
		return func(int) int { return local }, nil
	}
	m := findModel(a.Model)
	if m == nil || m.critical == nil {
		return nil, fmt.Errorf("no rule for model %q, want one of %s", a.Model, scheduled())
	}
	if mode == job.GNS {
		return func(e int) int { return noiseKey{a.Model, local, gpus}.doubled(e, n) }, nil
	}
	return func(e int) int {
		if float64(e) <= calm*float64(n) || m.critical(local, e) {
			return local
		}
		return max(local, m.most)
	}, nil
}

// doubled returns the samples per GPU in an epoch of n under GNS. A job that doubled twice returns to
// the first batch in its last epoch. Source: public Shockwave profiles.
func (k noiseKey) doubled(epoch, n int) int {
	at, local := noiseDoublings[k], k.local
	if len(at) > 1 && epoch == n-1 && epoch >= at[1] {
		return local
	}
	for _, e := range at {
		if epoch >= e {
			local *= 2
		}
	}
	return local
}

// Requested returns the batch size per GPU that a job requests at the end of a round. In the round it trained with
// local samples per GPU and reached the given epoch. In mode GNS the result is at most twice local. It is local if the
// job requests no change or an unmeasured batch size. Source: public Shockwave simulator.
func (a *Application) Requested(s *job.Spec, regimes []job.Regime, local, epoch int) int {
	want := a.wanted(s, regimes, local, epoch)
	if want != local && a.measured([]job.Regime{{BatchSize: want * s.GPUs}}, s.GPUs) != nil {
		return local
	}
	return want
}

func (a *Application) wanted(s *job.Spec, regimes []job.Regime, local, epoch int) int {
	first := regimes[0].BatchSize / s.GPUs
	switch s.Schedule.Mode {
	case job.GNS:
		if next := (noiseKey{a.Model, first, s.GPUs}).doubled(epoch+1, epoch+3); next > local {
			return 2 * local
		}
	case job.Accordion:
		m := findModel(a.Model)
		critical := m.critical
		if m.always != nil {
			critical = m.always
		}
		if critical(first, epoch) {
			return first
		}
		return max(first, m.most)
	case job.Given:
		return job.BatchAt(regimes, epoch) / s.GPUs
	case job.Unscheduled, job.Static:
	}
	return local
}
