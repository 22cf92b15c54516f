package shockwave

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/job"
)

// RegimeSequence returns the batch sizes that a job is expected to use, in order, before it starts:
//
//   - the batch sizes of the schedule's regimes, if given;
//   - else the batch sizes that the user names (the schedule's own slice, which must not be modified);
//   - else a sequence that starts with first: only first for a static job; doubling up to limit under GNS;
//     alternating between first and limit under Accordion, for at most maxRegimes regimes.
//
// Sizes are samples in total. Source: Shockwave §5.
func RegimeSequence(s *job.BatchSchedule, first, limit, maxRegimes int) ([]int, error) {
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
	case s.Mode == job.Accordion && maxRegimes < 1:
		return nil, fmt.Errorf("regime: at most %d regimes, want at least 1", maxRegimes)
	}
	sizes := []int{first}
	switch s.Mode {
	case job.GNS:
		for b := first; b <= limit/2; b *= 2 {
			sizes = append(sizes, 2*b)
		}
	case job.Accordion:
		for i := 1; i < maxRegimes && first < limit; i++ {
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
