package workload

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Regimes returns which batch sizes a job with a schedule truly uses, and in which epochs. The regimes cover all epochs
// and do not depend on the scheduler. It returns nil for a job without a schedule.
//
// It returns an error if the schedule does not suit the job and its application. Source: Shockwave §2.3.
func (a *Application) Regimes(s *job.Spec) ([]job.Regime, error) {
	if s.Schedule.Mode == job.Unscheduled {
		return nil, nil
	}
	if err := s.Schedule.Validate(); err != nil {
		return nil, fmt.Errorf("job %s: %w", s.ID, err)
	}
	if s.Adaptivity.Has(job.GPUCount) {
		return nil, fmt.Errorf("job %s: schedule %s: its number of GPUs is adaptive, want a fixed number, because batch sizes are totals", s.ID, s.Schedule.Mode)
	}
	regimes, err := a.regimes(s)
	if err == nil {
		err = a.measured(regimes, max(1, s.GPUs))
	}
	if err != nil {
		return nil, fmt.Errorf("job %s: schedule %s: %w", s.ID, s.Schedule.Mode, err)
	}
	return regimes, nil
}

func (a *Application) regimes(s *job.Spec) ([]job.Regime, error) {
	if a.Epoch == 0 {
		return nil, fmt.Errorf("application %q counts no epochs, want none of its jobs to have a schedule", a.Name)
	}
	n, err := a.epochs(s)
	if err != nil {
		return nil, err
	}
	if s.Schedule.Mode == job.Given {
		return covering(s.Schedule.Regimes, n)
	}
	local, err := a.localBatch(s)
	if err != nil {
		return nil, err
	}
	batch, err := a.rule(s.Schedule.Mode, local, s.GPUs, n)
	if err != nil {
		return nil, err
	}
	var regimes []job.Regime
	for e := range n {
		regimes = extend(regimes, job.Regime{BatchSize: batch(e) * s.GPUs, Epochs: 1})
	}
	return regimes, nil
}

func extend(all []job.Regime, r job.Regime) []job.Regime {
	if last := len(all) - 1; last >= 0 && all[last].BatchSize == r.BatchSize {
		all[last].Epochs += r.Epochs
		return all
	}
	return append(all, r)
}

func covering(given []job.Regime, n int) ([]job.Regime, error) {
	var regimes []job.Regime
	covered := 0
	for _, r := range given {
		covered += r.Epochs
		regimes = extend(regimes, r)
	}
	if covered != n {
		return nil, fmt.Errorf("%d regimes cover %d epochs, want %d: as many as target_samples has", len(given), covered, n)
	}
	return regimes, nil
}

func (a *Application) localBatch(s *job.Spec) (int, error) {
	if s.GPUs < 1 || s.BatchSize < s.GPUs || s.BatchSize%s.GPUs != 0 {
		return 0, fmt.Errorf("batch size %d on %d GPUs, want a multiple of the GPUs", s.BatchSize, s.GPUs)
	}
	return s.BatchSize / s.GPUs, nil
}

// StepsPerEpoch returns in how many passes over local samples the GPUs of a job together complete an epoch, rounded up.
func (a *Application) StepsPerEpoch(local int) int { return (a.Epoch + local - 1) / local }

// epochs returns the epochs to the job's target, rounded up; without target, the epochs of its regimes. Given
// regimes count samples; a rule counts passes, rounded up in each epoch. Source: public Shockwave profiles,
// which count the passes of the first batch size.
func (a *Application) epochs(s *job.Spec) (int, error) {
	given := s.Schedule.Mode == job.Given
	if s.Target == 0 && given {
		n := 0
		for _, r := range s.Schedule.Regimes {
			n += r.Epochs
		}
		return n, nil
	}
	n := math.Ceil(s.Target / float64(a.Epoch))
	if !given {
		local, err := a.localBatch(s)
		if err != nil {
			return 0, err
		}
		n = math.Ceil(s.Target / float64(local) / float64(a.StepsPerEpoch(local)))
	}
	if !(n >= 1 && n <= job.MaxEpochs) {
		return 0, fmt.Errorf("target of %g samples is %.0f epochs of %d, want 1 to %d epochs", s.Target, n, a.Epoch, job.MaxEpochs)
	}
	return int(n), nil
}

func (a *Application) measured(regimes []job.Regime, gpus int) error {
	err := fmt.Errorf("application %s was measured on no GPU type", a.Name)
	for _, t := range slices.Sorted(maps.Keys(a.Batch.LocalMax)) {
		if err = a.measuredOn(t, regimes, gpus); err == nil {
			return nil
		}
	}
	return err
}

func (a *Application) measuredOn(t cluster.GPUType, regimes []job.Regime, gpus int) error {
	shape := evenShape(cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: t})
	for _, r := range regimes {
		local := r.BatchSize / gpus
		if _, _, ok := a.Speed.Step(t, shape, local); !ok || r.BatchSize%gpus != 0 {
			return fmt.Errorf("batch size %d of %s has no throughput on %d %s, want one that was measured", r.BatchSize, a.Model, gpus, t)
		}
	}
	return nil
}

// EpochEnds returns the progress, in samples, at the end of each epoch of a job with these regimes. The last epoch ends
// at the job's target, if this is earlier.
func (a *Application) EpochEnds(s *job.Spec, regimes []job.Regime) []float64 {
	var ends []float64
	for _, r := range regimes {
		for range r.Epochs {
			ends = append(ends, float64((len(ends)+1)*a.Epoch))
		}
	}
	if last := len(ends) - 1; s.Target > 0 {
		ends[last] = min(ends[last], s.Target)
	}
	return ends
}

func scheduled() string {
	var names []string
	for _, m := range models {
		if m.critical != nil {
			names = append(names, m.name)
		}
	}
	return strings.Join(names, ", ")
}
