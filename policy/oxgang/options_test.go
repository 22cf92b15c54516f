package oxgang

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
)

// Settings are accepted up to both ends of their ranges, and no number beyond.
func TestOptions_ranges(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		of          func(o *Options) *float64
		good, wrong []float64
	}{
		"lambda":   {func(o *Options) *float64 { return &o.Lambda }, []float64{1e-9, 1e9}, []float64{0, -1, inf, nan}},
		"makespan": {func(o *Options) *float64 { return &o.Makespan }, []float64{0, 1}, []float64{-0.01, 1.01, inf, nan}},
		"margin":   {func(o *Options) *float64 { return &o.Margin }, []float64{0, 100}, []float64{-0.01, 100.01, inf, nan}},
	} {
		for i, v := range append(c.good, c.wrong...) {
			o := DefaultOptions()
			*c.of(&o) = v
			if err := o.Validate(); (err == nil) != (i < len(c.good)) {
				t.Errorf("%s %v: %v, want it accepted: %t", name, v, err, i < len(c.good))
			}
		}
	}
}

// Durations in assumptions are in seconds up to two minutes, in minutes up to two hours, then in hours.
func TestInWords(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0 s", 119: "119 s", 120: "2 min", 179: "3 min", 7199: "120 min", 7200: "2 h", 9e6: "2.5e+03 h", 36e6: "more than a year",
	} {
		if got := inWords(seconds); got != want {
			t.Errorf("%v s: %q, want %q", seconds, got, want)
		}
	}
}

// A saved state has every field of what was learned.
func TestRemember_every_field(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	remembers(t, forecast{due: at, most: 1, least: 2, right: 3, wrong: 4}, (*forecast).Remember)
	remembers(t, influx{first: at, last: at.Add(time.Hour), quiet: 1, jobs: 2, work: 3}, (*influx).Remember)
	remembers(t, track{jobs: 1, squares: 2}, (*track).Remember)
}

// A saved lets a test save any value.
type saved[T any] struct {
	value    T
	remember func(*T, *memory.Codec)
}

func (s *saved[T]) Remember(c *memory.Codec) { s.remember(&s.value, c) }

func remembers[T comparable](t *testing.T, want T, remember func(*T, *memory.Codec)) {
	t.Helper()
	text, err := memory.Marshal(&saved[T]{want, remember})
	got := saved[T]{remember: remember}
	if err == nil {
		err = memory.Unmarshal(text, &got)
	}
	if err != nil || got.value != want {
		t.Errorf("%+v, %v; want %+v", got.value, err, want)
	}
}

// The first and the last submission and the longest time between two are known, in whatever order they are told.
func TestInflux_submitted(t *testing.T) {
	at := func(minutes int) time.Time { return time.Date(2030, 1, 1, 0, minutes, 0, 0, time.UTC) }
	var f influx
	for _, c := range []struct {
		minute      int
		first, last int
		quiet       float64
	}{{10, 10, 10, 0}, {13, 10, 13, 180}, {5, 5, 13, 180}, {14, 5, 14, 180}, {20, 5, 20, 360}} {
		f.submitted(at(c.minute))
		if !f.first.Equal(at(c.first)) || !f.last.Equal(at(c.last)) || f.quiet != c.quiet {
			t.Errorf("minute %d: first %v, last %v, quiet %v s; want minutes %d and %d, %v s", c.minute, f.first, f.last, f.quiet, c.first, c.last, c.quiet)
		}
	}
	if f.jobs != 5 {
		t.Errorf("%d jobs, want 5", f.jobs)
	}
}
