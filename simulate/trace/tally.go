package trace

import (
	"slices"
	"time"
)

type tally struct {
	values []time.Duration // ascending
	times  []uint32        // count of each value
	recent []time.Duration
	count  int
}

const mostRecent = 1 << 16

func (t *tally) add(d time.Duration) {
	t.recent = append(t.recent, d)
	t.count++
	if len(t.recent) >= max(mostRecent, len(t.values)/4) {
		t.settle()
	}
}

func (t *tally) settle() {
	slices.Sort(t.recent)
	values, times := make([]time.Duration, 0, len(t.values)+64), make([]uint32, 0, len(t.values)+64)
	put := func(d time.Duration, n uint32) {
		if last := len(values) - 1; last >= 0 && values[last] == d {
			times[last] += n
			return
		}
		values, times = append(values, d), append(times, n)
	}
	rest := t.recent
	for i, d := range t.values {
		for len(rest) > 0 && rest[0] < d {
			put(rest[0], 1)
			rest = rest[1:]
		}
		put(d, t.times[i])
	}
	for _, d := range rest {
		put(d, 1)
	}
	t.values, t.times, t.recent = values, times, t.recent[:0]
}

func (t *tally) quantiles() Quantiles {
	t.settle()
	if t.count == 0 {
		return Quantiles{}
	}
	mean, n := 0.0, 0
	at := func(percent int) time.Duration { return t.at((t.count*percent+99)/100 - 1) }
	for k, x := range t.values {
		for range t.times[k] {
			n++
			mean += (float64(x) - mean) / float64(n)
		}
	}
	return Quantiles{Mean: time.Duration(mean), Min: t.values[0], P10: at(10), P50: at(50), P90: at(90), P99: at(99), Max: t.values[len(t.values)-1]}
}

func (t *tally) at(rank int) time.Duration {
	for k, n := range t.times {
		if rank -= int(n); rank < 0 {
			return t.values[k]
		}
	}
	return 0
}
