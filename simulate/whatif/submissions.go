package whatif

import "time"

const mostGaps = 1000

// submissions predict the rate of new jobs from the times of earlier ones.
//
// After each of n submissions they end with a probability of 1/(n+1), by the rule of succession. Otherwise the
// next gap is longer than the present silence with a probability of (k+1)/n, if k of the gaps so far were longer.
// If none was, the probability falls with the silence c as longest/c, as heavy-tailed gaps do. By Bayes' rule
// submissions continue with a probability of (k+1)/(k+2), or longest/(longest+c).
//
// Example: after gaps of 1, 2 and 5 minutes and a silence of 3 minutes, k is 1: submissions continue with 2/3.
// After 10 minutes: 5/(5+10) = 1/3.
//
// Source: Fader et al. 2005, with the gaps of the run instead of exponential ones, because submissions come in
// bursts, and stop at night.
type submissions struct {
	n           int
	first, last time.Time
	gaps        []time.Duration // the last mostGaps, as a ring
	at          int             // of the oldest gap, if there are mostGaps
}

func (s *submissions) came(now time.Time) {
	if s.n++; s.n == 1 {
		s.first, s.last = now, now
		return
	}
	gap := now.Sub(s.last)
	s.last = now
	if len(s.gaps) < mostGaps {
		s.gaps = append(s.gaps, gap)
		return
	}
	s.gaps[s.at] = gap
	s.at = (s.at + 1) % mostGaps
}

// between returns the expected time between submissions from now on: the mean so far over the probability that
// they continue; 0 if none is expected, or nothing is known.
func (s *submissions) between(now time.Time) time.Duration {
	if s.n < 2 {
		return 0
	}
	on := s.goOn(now.Sub(s.last))
	if on == 0 {
		return 0
	}
	mean := s.last.Sub(s.first).Seconds() / float64(s.n-1)
	return time.Duration(mean / on * float64(time.Second))
}

func (s *submissions) goOn(silence time.Duration) float64 {
	longer, longest := 0, time.Duration(0)
	for _, gap := range s.gaps {
		longest = max(longest, gap)
		if gap > silence {
			longer++
		}
	}
	switch {
	case longer > 0:
		return float64(longer+1) / float64(longer+2)
	case longest == 0:
		return 0
	}
	return longest.Seconds() / (longest + silence).Seconds()
}
