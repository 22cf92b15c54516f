package metrics

import "time"

const mostTimes = 1 << 16

type sample struct {
	times   []time.Duration
	stride  int // 0 means 1
	skipped int
}

func (s *sample) add(d time.Duration) {
	if s.skipped++; s.skipped < s.stride {
		return
	}
	s.skipped = 0
	if len(s.times) == mostTimes {
		for i := range mostTimes / 2 {
			s.times[i] = s.times[2*i+1]
		}
		s.times, s.stride = s.times[:mostTimes/2], 2*max(1, s.stride)
		s.skipped = s.stride / 2
		return
	}
	s.times = append(s.times, d)
}
