package boa

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var dawn = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

func TestLedgerBooksWhatWasPaid(t *testing.T) {
	var l ledger
	for i, paid := range []float64{99, 10, 10, 10, 30, 0} { // the first has nothing before it
		l.enter(dawn.Add(time.Duration(i)*time.Hour), 24*time.Hour, paid, paid/2)
	}
	for _, c := range []struct {
		from time.Duration
		want float64
	}{{0, 60}, {90 * time.Minute, 45}, {3 * time.Hour, 30}, {210 * time.Minute, 15}, {5 * time.Hour, 0}, {-time.Hour, 60}} {
		spent, width := l.since(dawn.Add(c.from))
		if math.Abs(spent-c.want) > 1e-9 || math.Abs(width-c.want/2) > 1e-9 {
			t.Errorf("since %v: %g, %g of it widths; want %g and half", c.from, spent, width, c.want)
		}
	}
	if len(l.points) != 4 {
		t.Errorf("%d points, want 4: three hours at 10 are one stretch", len(l.points))
	}
}

func TestLedgerForgetsWhatLeftTheWindow(t *testing.T) {
	var l ledger
	for i := range 10000 {
		l.enter(dawn.Add(time.Duration(i)*time.Minute), time.Hour, float64(i%7), 0)
	}
	if len(l.points) > 200 {
		t.Errorf("%d points of a window of 60 rounds, want at most 200", len(l.points))
	}
	spent, _ := l.since(dawn.Add(9939 * time.Minute))
	want := 0.0
	for i := 9940; i < 10000; i++ {
		want += float64(i%7) / 60
	}
	if math.Abs(spent-want) > 1e-9 {
		t.Errorf("spent %g in the last hour, want %g", spent, want)
	}
}

// Whoever pays no more than may be paid, at any time, keeps the promise in every window,
// whatever was wanted.
func TestPromiseIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := guarantee{budget: 10, slack: 0.02, window: 8 * time.Hour, horizon: time.Hour}
		round := time.Duration(rapid.IntRange(1, 30).Draw(t, "minutes of a round")) * time.Minute
		var l ledger
		var paid []float64
		rate := 0.0
		for now := dawn; now.Before(dawn.Add(40 * time.Hour)); now = now.Add(round) {
			l.enter(now, p.window, rate, rate)
			if len(paid) == 0 || rapid.IntRange(0, 9).Draw(t, "changes") == 0 {
				rate = rapid.Float64Range(0, 60).Draw(t, "wanted")
			}
			rate = min(rate, l.most(now, &p, round, time.Hour))
			paid = append(paid, rate*round.Hours())
		}
		n, sum := int(p.window/round), 0.0
		for i := range paid {
			if sum += paid[i]; i >= n {
				sum -= paid[i-n]
			}
			if most := (1 + p.slack) * p.budget * p.window.Hours(); sum > most*(1+1e-9) {
				t.Fatalf("%g spent in the %d rounds to round %d, want at most %g", sum, n, i, most)
			}
		}
	})
}

// What was spent too much is saved in the horizon, what was saved is spent, and what
// widths are of what is paid is taken into account.
func TestBudgetFeedsBack(t *testing.T) {
	p := guarantee{budget: 10, window: 100 * time.Hour, horizon: 10 * time.Hour}
	for _, c := range []struct{ paid, width, want float64 }{
		{10, 10, 10},            // as planned
		{12, 12, 8},             // 20 too much in 10 hours, to be saved in 10
		{9, 9, 11},              //
		{10, 5, 10 * 60. / 110}, // the half of it is overhead, of an hour before none
		{40, 40, 0}, {0, 0, 20},
	} {
		var l ledger
		l.enter(dawn, p.window, 0, 0)
		l.enter(dawn.Add(10*time.Hour), p.window, c.paid, c.width)
		if got := l.budget(dawn.Add(10*time.Hour), &p); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("after 10 hours at %g, %g of it widths: budget %g, want %g", c.paid, c.width, got, c.want)
		}
	}
}
