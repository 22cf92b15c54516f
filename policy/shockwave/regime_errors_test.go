package shockwave_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/shockwave"
)

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestNewPredictor_errors(t *testing.T) {
	for _, c := range []struct {
		rule   shockwave.Rule
		epochs int
		sizes  []int
		want   string
	}{
		{3, 10, []int{32}, "regime: rule 3, want at most 2"},
		{shockwave.Bayes, 0, []int{32}, "regime: job of 0 epochs, want 1 to 1000000"},
		{shockwave.Bayes, job.MaxEpochs + 1, []int{32}, "regime: job of 1000001 epochs, want 1 to 1000000"},
		{shockwave.Bayes, 10, nil, "regime: 0 regimes, want at least 1"},
		{shockwave.Bayes, 10, []int{32, 0}, "regime 2: batch size 0, want at least 1"},
		{shockwave.Bayes, 10, []int{32, 64, 64}, "regime 3: batch size 64 again, want another than before"},
	} {
		_, err := shockwave.NewPredictor(c.rule, c.epochs, c.sizes)
		wantError(t, err, c.want)
	}
}

func TestObserve_errors_change_nothing(t *testing.T) {
	for _, c := range []struct {
		batch, epochs int
		want          string
	}{
		{32, -1, "regime: saw -1 epochs after 4 of 10, want 0 to 6"},
		{32, 7, "regime: saw 7 epochs after 4 of 10, want 0 to 6"},
		{48, 1, "regime: saw batch size 48, want one of [32 64]"},
	} {
		p := after(t, shockwave.Restatement, 10, []int{32, 64}, [2]int{32, 4})
		wantError(t, p.Observe(c.batch, c.epochs), c.want)
		want := []shockwave.Regime{{BatchSize: 32, Seen: 4, Expected: 5}, {BatchSize: 64, Expected: 5}}
		if diff := cmp.Diff(want, p.Regimes()); diff != "" {
			t.Errorf("%d epochs of %d: %s", c.epochs, c.batch, diff)
		}
	}
}

func TestTotal_errors(t *testing.T) {
	p := after(t, shockwave.Restatement, 10, []int{32, 64})
	for _, c := range []struct {
		times map[int]time.Duration
		want  string
	}{
		{map[int]time.Duration{32: 1}, "regime 2: no epoch time for batch size 64, want one for each of [32 64]"},
		{map[int]time.Duration{32: -time.Second, 64: 1}, "regime 1: epoch of batch size 32 takes -1s, want 0 or more"},
	} {
		_, err := p.Total(c.times)
		wantError(t, err, c.want)
		_, err = p.Remaining(c.times)
		wantError(t, err, c.want)
	}
}

func TestSequence_errors(t *testing.T) {
	for _, c := range []struct {
		schedule           job.BatchSchedule
		first, limit, most int
		want               string
	}{
		{job.BatchSchedule{}, 32, 64, 2, "regime: job counts no epochs, want one with a schedule"},
		{job.BatchSchedule{Sizes: []int{32, 64}}, 32, 64, 2, "regime: job counts no epochs, want one with a schedule"},
		{job.BatchSchedule{Mode: job.GNS}, 0, 64, 2, "regime: first batch size 0, want at least 1"},
		{job.BatchSchedule{Mode: job.Accordion}, 32, 64, 0, "regime: at most 0 regimes, want at least 1"},
		{job.BatchSchedule{Mode: job.Given}, 32, 64, 2, "regime: schedule: mode given without regimes, want at least 1"},
	} {
		_, err := shockwave.RegimeSequence(&c.schedule, c.first, c.limit, c.most)
		wantError(t, err, c.want)
	}
}
