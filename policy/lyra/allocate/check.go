package allocate

import (
	"errors"
	"fmt"
	"math"

	"github.com/oxgang/oxgang/model/job"
)

func (a *Allocator) check(jobs []Job) error {
	var bad []error
	if a.seen == nil {
		a.seen = make(map[job.ID]bool, len(jobs))
	}
	clear(a.seen)
	for i := range jobs {
		j := &jobs[i]
		if a.seen[j.ID] {
			bad = append(bad, fmt.Errorf("job %s twice", j.ID))
		}
		a.seen[j.ID] = true
		if err := j.check(); err != nil {
			bad = append(bad, err)
		}
	}
	return errors.Join(bad...)
}

func (j *Job) check() error {
	var bad []error
	if j.GPUs < 1 || j.Min < 1 || j.Max < j.Min {
		bad = append(bad, fmt.Errorf("job %s: %d to %d workers of %d GPUs, want 1 <= min <= max, at least 1 GPU", j.ID, j.Min, j.Max, j.GPUs))
	}
	if j.Work < 0 {
		bad = append(bad, fmt.Errorf("job %s: work %s, want at least 0", j.ID, j.Work))
	}
	if j.Heterogeneous && !(j.MixedSpeed > 0 && j.MixedSpeed <= 1) {
		bad = append(bad, fmt.Errorf("job %s: mixed speed %g, want more than 0 and at most 1", j.ID, j.MixedSpeed))
	}
	for _, err := range [...]error{j.checkSpeed(), j.checkHas()} {
		if err != nil {
			bad = append(bad, err)
		}
	}
	return errors.Join(bad...)
}

func (j *Job) checkHas() error {
	n := j.Has.Total()
	switch {
	case j.Has[Training] < 0 || j.Has[Loaned] < 0:
		return fmt.Errorf("job %s: has %d and %d workers, want at least 0", j.ID, j.Has[Training], j.Has[Loaned])
	case n != 0 && (n < j.Min || n > j.Max):
		return fmt.Errorf("job %s: has %d workers, want 0 or %d to %d", j.ID, n, j.Min, j.Max)
	case j.Heterogeneous:
	case j.Has.Mixed():
		return fmt.Errorf("job %s: on both sides, want one or heterogeneous", j.ID)
	case j.Has[Loaned] > 0 && !j.Fungible:
		return fmt.Errorf("job %s: on side %d, where it may not be", j.ID, Loaned)
	}
	return nil
}

func (j *Job) checkSpeed() error {
	for w := j.Min; j.Speed != nil && w <= j.Max; w++ {
		if v := j.Speed(w); !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("job %s: speed %g of %d workers, want finite and more than 0", j.ID, v, w)
		}
	}
	return nil
}

func (c *Capacity) check() error {
	var bad []error
	for s, p := range c {
		if p.Free < 0 || p.Total < p.Free {
			bad = append(bad, fmt.Errorf("side %d: %d of %d GPUs free, want 0 to all", s, p.Free, p.Total))
		}
		if !(p.PerGPU >= 1) || math.IsInf(p.PerGPU, 1) {
			bad = append(bad, fmt.Errorf("side %d: %g GPUs for one, want at least 1", s, p.PerGPU))
		}
	}
	return errors.Join(bad...)
}
