package metrics

import "time"

// mostTimes is how many policy times a Recorder keeps.
const mostTimes = 1 << 16

// A sample keeps of many times an even part: all of them while they are at most mostTimes, then
// every second, then every fourth, and so on. Its memory does not grow with a run.
type sample struct {
	kept   []time.Duration
	stride int // every how many-th is kept; 0 stands for 1
	passed int // since the last that was kept
}

// add adds a time.
func (s *sample) add(d time.Duration) {
	if s.passed++; s.passed < s.stride {
		return
	}
	s.passed = 0
	if len(s.kept) == mostTimes {
		for i := range mostTimes / 2 {
			s.kept[i] = s.kept[2*i+1]
		}
		s.kept, s.stride = s.kept[:mostTimes/2], 2*max(1, s.stride)
		s.passed = s.stride / 2
		return
	}
	s.kept = append(s.kept, d)
}
