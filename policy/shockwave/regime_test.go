package shockwave_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/shockwave"
)

// near compares floats up to rounding.
var near = cmpopts.EquateApprox(0, 1e-9)

// after returns a predictor that has seen batch sizes, each for some epochs.
func after(t *testing.T, rule shockwave.Rule, epochs int, sizes []int, seen ...[2]int) *shockwave.Predictor {
	t.Helper()
	p, err := shockwave.NewPredictor(rule, epochs, sizes)
	for _, s := range seen {
		err = errors.Join(err, p.Observe(s[0], s[1]))
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func expected(p *shockwave.Predictor) []float64 {
	var all []float64
	for _, r := range p.Regimes() {
		all = append(all, r.Expected)
	}
	return all
}

func TestExpected(t *testing.T) {
	doubling := []int{32, 64, 128, 256}
	back := []int{32, 256, 32}
	for _, c := range []struct {
		name  string
		rule  shockwave.Rule
		sizes []int
		seen  [][2]int // batch size, epochs
		want  []float64
	}{
		{"prior", shockwave.Restatement, doubling, nil, []float64{25, 25, 25, 25}},
		{"prior", shockwave.Bayes, doubling, nil, []float64{25, 25, 25, 25}},
		{"prior", shockwave.Greedy, doubling, nil, []float64{100, 0, 0, 0}},
		{"within the first", shockwave.Restatement, doubling, [][2]int{{32, 10}}, []float64{25, 25, 25, 25}},
		{"within the first", shockwave.Bayes, doubling, [][2]int{{32, 25}}, []float64{40, 20, 20, 20}},
		{"within the first", shockwave.Greedy, doubling, [][2]int{{32, 10}}, []float64{100, 0, 0, 0}},
		{"the first is long", shockwave.Restatement, doubling, [][2]int{{32, 40}}, []float64{40, 20, 20, 20}},
		{"the second begins", shockwave.Restatement, doubling, [][2]int{{32, 10}, {64, 0}}, []float64{10, 30, 30, 30}},
		{"the second begins", shockwave.Bayes, doubling, [][2]int{{32, 25}, {64, 0}}, []float64{40, 20, 20, 20}},
		{"the second begins", shockwave.Greedy, doubling, [][2]int{{32, 10}, {64, 0}}, []float64{10, 90, 0, 0}},
		{"the second is passed over", shockwave.Restatement, doubling, [][2]int{{32, 10}, {128, 5}}, []float64{10, 0, 45, 45}},
		{"the last begins", shockwave.Restatement, doubling, [][2]int{{32, 10}, {64, 10}, {128, 10}, {256, 0}}, []float64{10, 10, 10, 70}},
		{"done before the last", shockwave.Restatement, doubling, [][2]int{{32, 10}, {64, 90}}, []float64{10, 90, 0, 0}},
		{"a batch size that comes back", shockwave.Restatement, back, [][2]int{{32, 20}, {256, 10}, {32, 5}}, []float64{20, 10, 70}},
		{"one more than K", shockwave.Restatement, back, [][2]int{{32, 20}, {256, 10}, {32, 5}, {256, 1}}, []float64{20, 10, 5, 65}},
		{"one regime", shockwave.Restatement, []int{32}, nil, []float64{100}},
	} {
		t.Run(c.rule.String()+"/"+c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, expected(after(t, c.rule, 100, c.sizes, c.seen...)), near); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTotalAndRemaining(t *testing.T) {
	times := map[int]time.Duration{32: 2 * time.Minute, 64: time.Minute}
	for _, c := range []struct {
		rule             shockwave.Rule
		total, remaining time.Duration
	}{
		{shockwave.Restatement, 115 * time.Minute, 85 * time.Minute},        // 15 epochs of 32, 85 of 64
		{shockwave.Bayes, 3600 * time.Minute / 23, 2910 * time.Minute / 23}, // of 23 parts 13 of 32, 10 of 64
		{shockwave.Greedy, 115 * time.Minute, 85 * time.Minute},
	} {
		p := after(t, c.rule, 100, []int{32, 64}, [2]int{32, 15}, [2]int{64, 0})
		total, err := p.Total(times)
		remaining, err2 := p.Remaining(times)
		if err != nil || err2 != nil || total.Round(time.Second) != c.total.Round(time.Second) || remaining.Round(time.Second) != c.remaining.Round(time.Second) {
			t.Errorf("%v: got %v, %v (%v, %v), want %v, %v", c.rule, total, remaining, err, err2, c.total, c.remaining)
		}
	}
}

// Under Bayes fewer epochs may be expected of the past than were seen.
func TestRemaining_is_not_negative(t *testing.T) {
	p := after(t, shockwave.Bayes, 100, []int{32, 64}, [2]int{32, 100})
	got, err := p.Remaining(map[int]time.Duration{32: 2 * time.Minute, 64: time.Minute})
	if got != 0 || err != nil {
		t.Errorf("got %v (%v), want 0", got, err)
	}
}

func TestTotal_saturates(t *testing.T) {
	p := after(t, shockwave.Restatement, job.MaxEpochs, []int{32})
	got, err := p.Total(map[int]time.Duration{32: math.MaxInt64 / 2})
	if got != math.MaxInt64 || err != nil {
		t.Errorf("got %v (%v), want the longest duration", got, err)
	}
}

func TestSequence(t *testing.T) {
	for _, c := range []struct {
		name               string
		schedule           job.BatchSchedule
		first, limit, most int
		want               []int
	}{
		{"static", job.BatchSchedule{Mode: job.Static}, 32, 256, 4, []int{32}},
		{"doubles up to the limit", job.BatchSchedule{Mode: job.GNS}, 32, 256, 1, []int{32, 64, 128, 256}},
		{"stays below the limit", job.BatchSchedule{Mode: job.GNS}, 10, 79, 1, []int{10, 20, 40}},
		{"starts at the limit", job.BatchSchedule{Mode: job.GNS}, 256, 256, 1, []int{256}},
		{"a limit near the largest int", job.BatchSchedule{Mode: job.GNS}, math.MaxInt/2 - 1, math.MaxInt, 1, []int{math.MaxInt/2 - 1, math.MaxInt - 3}},
		{"alternates", job.BatchSchedule{Mode: job.Accordion}, 32, 256, 5, []int{32, 256, 32, 256, 32}},
		{"has nothing to alternate with", job.BatchSchedule{Mode: job.Accordion}, 256, 256, 5, []int{256}},
		{"given", job.BatchSchedule{Mode: job.Given, Regimes: []job.Regime{{BatchSize: 8, Epochs: 1}, {BatchSize: 8, Epochs: 2}, {BatchSize: 16, Epochs: 3}}}, 0, 0, 0, []int{8, 16}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := shockwave.RegimeSequence(&c.schedule, c.first, c.limit, c.most)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a user wrote down is expected, but for what is already otherwise.
func TestNewStated(t *testing.T) {
	for _, c := range []struct {
		name string
		seen [][2]int // batch size, epochs
		want []float64
	}{
		{"nothing seen", nil, []float64{30, 10, 60}},
		{"within the first", [][2]int{{8, 20}}, []float64{30, 10, 60}},
		{"the second begins early", [][2]int{{8, 20}, {16, 5}}, []float64{20, 10, 70}},
		{"the first is longer", [][2]int{{8, 35}}, []float64{35, 10, 55}},
		{"so long that the last has less", [][2]int{{8, 95}}, []float64{95, 5, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := shockwave.NewStatedPredictor([]job.Regime{{BatchSize: 8, Epochs: 10}, {BatchSize: 8, Epochs: 20}, {BatchSize: 16, Epochs: 10}, {BatchSize: 8, Epochs: 60}})
			for _, s := range c.seen {
				err = errors.Join(err, p.Observe(s[0], s[1]))
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, expected(p), near); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := shockwave.NewStatedPredictor(nil); err == nil {
		t.Error("no regimes: got no error")
	}
	_, err := shockwave.NewStatedPredictor([]job.Regime{{BatchSize: 8, Epochs: 10}, {BatchSize: 16, Epochs: -3}})
	if want := "regime: schedule: regime 2: -3 epochs, want 1 to 1000000"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
