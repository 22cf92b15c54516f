package whatif

import "time"

// mostGaps bounds the times between submissions that are kept: the last ones.
const mostGaps = 1000

// submissions are when jobs came in a run. They say at which rate jobs go on to come.
//
// The longer no job has come, the less likely it is that any more do. After each of n submissions they end with
// a probability of 1/(n+1), by the rule of succession, and else the next gap is longer than the present silence with the
// probability that the gaps before say: (k+1)/n if k of them were longer. If none was, that probability
// is below 1/n, and taken to fall with the silence c as longest/c, as heavy-tailed gaps do. By Bayes' rule submissions go on
// with a probability of (k+1)/(k+2), or longest/(longest+c). This is the model of Fader, Hardie and Lee (2005) of who still buys, with the
// gaps of the run in place of exponential ones: submissions come in bursts, and stop at night.
type submissions struct {
	n           int
	first, last time.Time
	gaps        []time.Duration // the last mostGaps, as a ring
	at          int             // of the oldest gap, if there are mostGaps
}

// came records a submission.
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

// between returns the time between submissions that is expected from now on: the mean one so far, over the probability that
// they go on; 0 if none is expected, or nothing is known.
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

// goOn returns the probability that jobs go on to come after a silence.
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
