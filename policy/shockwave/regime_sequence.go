package regime

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/job"
)

// Sequence returns the batch sizes of the regimes that a job may have, in their
// order, as they are known before it runs:
//
//   - A job with given regimes has the batch sizes of these.
//   - Any other job has those that its user names, if any. The result is then the
//     slice of the schedule, and must not be modified.
//   - Otherwise the job starts with first (samples in total). A static job has one
//     regime. Under GNS the batch size doubles as long as limit allows. Under Accordion
//     it alternates between first and limit for at most most regimes, because that rule
//     has no bound itself.
//
// It returns an error if the schedule has no epochs or is not valid, and if first or
// most is used and is not positive.
//
// Source: Shockwave §5.
func Sequence(s *job.BatchSchedule, first, limit, most int) ([]int, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("regime: %w", err)
	}
	switch {
	case s.Mode == job.Unscheduled:
		return nil, errors.New("regime: job counts no epochs, want one with a schedule")
	case s.Mode == job.Given:
		return given(s.Regimes), nil
	case len(s.Sizes) > 0:
		return s.Sizes, nil
	case first < 1:
		return nil, fmt.Errorf("regime: first batch size %d, want at least 1", first)
	case s.Mode == job.Accordion && most < 1:
		return nil, fmt.Errorf("regime: at most %d regimes, want at least 1", most)
	}
	sizes := []int{first}
	switch s.Mode {
	case job.GNS:
		for b := first; b <= limit/2; b *= 2 {
			sizes = append(sizes, 2*b)
		}
	case job.Accordion:
		for i := 1; i < most && first < limit; i++ {
			sizes = append(sizes, [2]int{first, limit}[i%2])
		}
	case job.Unscheduled, job.Static, job.Given:
	}
	return sizes, nil
}

func given(regimes []job.Regime) []int {
	var sizes []int
	for _, r := range regimes {
		sizes = append(sizes, r.BatchSize)
	}
	return slices.Compact(sizes)
}
