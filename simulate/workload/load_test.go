package workload

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLoadValidate(t *testing.T) {
	good := Load{Step: time.Minute, Busy: []float64{0, 0.5, 1}}
	if err := good.Validate(); err != nil {
		t.Errorf("a good curve: %v", err)
	}
	bad := Load{Step: -time.Second, Busy: []float64{math.NaN(), 0.5, 1.01, -0.01, math.Inf(1)}}
	want := `load: step -1s, want more than 0
load: interval 0: busy share NaN, want 0 to 1
load: interval 2: busy share 1.01, want 0 to 1
load: interval 3: busy share -0.01, want 0 to 1
load: interval 4: busy share +Inf, want 0 to 1`
	if err := bad.Validate(); err == nil || err.Error() != want {
		t.Errorf("got error\n%v\nwant\n%s", err, want)
	}
	empty := Load{}
	want = "load: step 0s, want more than 0\nload: no intervals, want at least 1"
	if err := empty.Validate(); err == nil || err.Error() != want {
		t.Errorf("got error\n%v\nwant\n%s", err, want)
	}
}

// stairs is a curve of n steps, each 0.001 above the one before.
func stairs(n int, step time.Duration) *Load {
	l := &Load{Step: step}
	for i := range n {
		l.Busy = append(l.Busy, float64(i)/1000)
	}
	return l
}

func TestLoadAt(t *testing.T) {
	const h = time.Hour
	for _, tc := range []struct {
		name string
		load *Load
		at   time.Duration
		want int // interval
	}{
		{"first", stairs(30, h), 0, 0},
		{"before the start", stairs(30, h), -h, 0},
		{"within", stairs(30, h), 2*h - 1, 1},
		{"on a border", stairs(30, h), 2 * h, 2},
		{"last", stairs(30, h), 30*h - 1, 29},
		{"repeats the last 24 hours", stairs(30, h), 30 * h, 6},
		{"one day on", stairs(30, h), 54*h - 1, 29},
		{"many days on", stairs(30, h), 30*h + 100*24*h + 5*h, 11},
		{"exactly a day", stairs(24, h), 25 * h, 1},
		{"shorter than a day", stairs(23, h), 23 * h, 22},
		{"shorter than a day, until the day is over", stairs(20, h), 24*h - 1, 19},
		{"shorter than a day, the next one", stairs(20, h), 26 * h, 2},
		{"shorter than a day, much later", stairs(20, h), 1000 * h, 16},
		{"a step that does not divide a day", stairs(5, 7*h), 35 * h, 1}, // as 11 h
		{"a step longer than a day", stairs(2, 30*h), 60 * h, 1},
	} {
		if got, want := tc.load.At(tc.at), float64(tc.want)/1000; got != want {
			t.Errorf("%s: got %g at %v, want %g", tc.name, got, tc.at, want)
		}
	}
}

func TestLoadBetween(t *testing.T) {
	l := &Load{Step: time.Minute, Busy: []float64{0.1, 0.3, 0.2}}
	got := l.Between(0.42, 0.95)
	want := &Load{Step: time.Minute, Busy: []float64{0.42, 0.95, 0.685}}
	for i := range want.Busy {
		if math.Abs(got.Busy[i]-want.Busy[i]) > 1e-12 {
			t.Errorf("interval %d: got %g, want %g", i, got.Busy[i], want.Busy[i])
		}
	}
	if got.Step != want.Step || l.Busy[0] != 0.1 {
		t.Errorf("got step %v, first value of the old curve %g", got.Step, l.Busy[0])
	}
	flat := (&Load{Step: time.Minute, Busy: []float64{0.9, 0.9}}).Between(0.4, 0.6)
	if diff := cmp.Diff([]float64{0.5, 0.5}, flat.Busy); diff != "" {
		t.Errorf("flat curve: %s", diff)
	}
	if empty := (&Load{}).Between(0, 1); len(empty.Busy) != 0 {
		t.Errorf("empty curve: %v", empty)
	}
}

// "The utilization changes from 42% in bottom hours to 95% in peak hours": Lyra
// §2.1; "the median inference traffic burst within five minutes is ~2%": §7.1.
func TestPaper_diurnal_load(t *testing.T) {
	for seed := range uint64(5) {
		l := Diurnal(seed, 15)
		if err := l.Validate(); err != nil {
			t.Fatal(err)
		}
		if len(l.Busy) != 15*288 || l.Step != 5*time.Minute {
			t.Fatalf("%d intervals of %v, want 4320 of 5 minutes", len(l.Busy), l.Step)
		}
		near(t, "mean", average(l.Busy), 0.655, 0.01)
		near(t, "median step upwards", medianRise(l.Busy), 0.019, 0.0015)
		near(t, "at 5:00", hourly(l, 5), 0.42, 0.015)
		for _, h := range []int{21, 22} {
			near(t, "at night", hourly(l, h), 0.94, 0.015)
		}
		if low, high := slices.Min(l.Busy), slices.Max(l.Busy); low < 0.4 || high > 0.97 {
			t.Errorf("from %g to %g, want 0.40 to 0.97", low, high)
		}
	}
}

// hourly is the mean of the hour that h is the middle of, over all days.
func hourly(l *Load, h int) float64 {
	var all []float64
	for i := range l.Busy {
		if k := (i + 6) % 288; k/12 == h {
			all = append(all, l.Busy[i])
		}
	}
	return average(all)
}

func average(all []float64) float64 {
	sum := 0.0
	for _, x := range all {
		sum += x
	}
	return sum / float64(len(all))
}

func medianRise(busy []float64) float64 {
	var up []float64
	for i := 1; i < len(busy); i++ {
		if d := busy[i] - busy[i-1]; d > 0 {
			up = append(up, d)
		}
	}
	slices.Sort(up)
	return up[len(up)/2]
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within {
		t.Errorf("%s: got %.4f, want %g ± %g", what, got, want, within)
	}
}

func TestDiurnal_of_a_seed(t *testing.T) {
	long, short, other := Diurnal(1, 3), Diurnal(1, 2), Diurnal(2, 2)
	if diff := cmp.Diff(short.Busy, long.Busy[:576]); diff != "" {
		t.Errorf("a longer curve begins unlike a shorter one: %s", diff)
	}
	if slices.Equal(short.Busy, other.Busy) {
		t.Error("two seeds give the same curve")
	}
}
