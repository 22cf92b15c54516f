package driver

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// asked returns a driver whose last round left a snapshot, and that looks ahead by fresh.
func asked(s *policy.Snapshot, fresh func() (policy.Policy, placement.Placer, error)) *Driver {
	d := New(Options{Predict: true})
	d.predictor = predictorOf(s, fresh)
	d.ahead = d.predictor.ahead
	return d
}

// An answer says what would be if the job that runs were cancelled, and of which time; the snapshot, the plan and what is expected of jobs are
// as they were.
func TestAsk_disturbs_nothing(t *testing.T) {
	s := full(t, 2)
	d := asked(s, fifo)
	expects := func() map[job.ID]Prediction {
		if err := d.predictor.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		return d.Predictions()
	}
	before, was, plan := expects(), full(t, 2), kept(s)
	a, err := d.Ask(t.Context(), whatif.Question{Cancel: uid(0)})
	if err != nil {
		t.Fatal(err)
	}
	if !a.From.Equal(start) || len(a.Jobs) != 2 || a.Sooner != 2 || a.StartSooner != 2 || a.StartLater != 0 || a.Unknown != 0 {
		t.Errorf("%+v, want from %v two jobs that start and end sooner", a, start)
	}
	if h := a.Jobs[0]; h.Sooner() < 9*time.Minute || h.StartsSooner() != h.Sooner() {
		t.Errorf("%+v: %v sooner, want the ten minutes that the other takes, but for the time to the next round", h, h.Sooner())
	}
	last, err := d.Ask(t.Context(), whatif.Question{Cancel: uid(2)})
	if err != nil || last.Same != 2 || last.Sooner+last.Later+last.StartSooner+last.StartLater != 0 {
		t.Errorf("%v, %+v, want that nothing changes for those before it", err, last)
	}
	_, decided := d.ahead.Last()
	if !reflect.DeepEqual(s.Jobs, was.Jobs) || !reflect.DeepEqual(decided, plan) {
		t.Error("the snapshot or its plan is another")
	}
	if after := expects(); !reflect.DeepEqual(after, before) {
		t.Errorf("expected is %+v, was %+v", after, before)
	}
}

// A policy that panics or fails while a question is answered takes the answer and nothing else, and the next one is answered.
func TestAsk_survives_its_policy(t *testing.T) {
	fresh := fifo
	d := asked(full(t, 1), func() (policy.Policy, placement.Placer, error) { return fresh() })
	for _, bad := range []func() (policy.Policy, placement.Placer, error){
		func() (policy.Policy, placement.Placer, error) { panic("seeded") },
		func() (policy.Policy, placement.Placer, error) { return nil, nil, errors.New("seeded") },
	} {
		fresh = bad
		if _, err := d.Ask(t.Context(), whatif.Question{Cancel: uid(0)}); err == nil || !strings.Contains(err.Error(), "seeded") {
			t.Errorf("%v, want what was seeded", err)
		}
	}
	fresh = fifo
	if _, err := d.Ask(t.Context(), whatif.Question{Cancel: uid(0)}); err != nil {
		t.Error(err)
	}
}

type slow struct {
	policy.Policy
	takes time.Duration
}

func (p slow) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	time.Sleep(p.takes)
	return p.Policy.Plan(ctx, s)
}

func slowly(t *testing.T, takes time.Duration) *Driver {
	return asked(full(t, 1), func() (policy.Policy, placement.Placer, error) {
		p, placer, err := fifo()
		return slow{p, takes}, placer, err
	})
}

// Where there is no time for both, half of it is for the state as it would be.
func TestAsk_halves_its_time(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := slowly(t, 200*time.Millisecond).Ask(t.Context(), whatif.Question{Cancel: uid(0)})
		if err != nil || a.Jobs[0].Before.Why != whatif.TooLong || a.Jobs[0].After.Why != whatif.Known {
			t.Errorf("%v, %+v, want that the end is not found as it is, and is found as it would be", err, a)
		}
	})
}

// One question is answered at a time, for as long as its bound says; another one waits as long, and then hears that it is busy.
func TestAsk_has_a_bound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := slowly(t, time.Second)
		began := time.Now()
		a, err := d.Ask(t.Context(), whatif.Question{Cancel: uid(0)})
		if took := time.Since(began); err != nil || took > longestAnswer+2*time.Second || a.Unknown != 1 {
			t.Errorf("%v after %v: %+v, want an answer that knows no end", err, took, a)
		}
		d.asked <- struct{}{} // somebody asks, and does not end
		began = time.Now()
		if _, err := d.Ask(t.Context(), whatif.Question{Cancel: uid(0)}); !errors.Is(err, errBusy) || time.Since(began) != longestAnswer {
			t.Errorf("%v after %v, want that it is busy after %v", err, time.Since(began), longestAnswer)
		}
	})
}

// Nobody is asked before the first round, nor where nothing is predicted.
func TestAsk_needs_a_round(t *testing.T) {
	if _, err := New(Options{}).Ask(t.Context(), whatif.Question{Cancel: "a"}); err == nil {
		t.Error("an answer where nothing is predicted")
	}
	d := New(Options{Predict: true})
	d.ahead = whatif.NewPredictor(fifo, d.o.scheduler(), nil)
	if _, err := d.Ask(t.Context(), whatif.Question{Cancel: "a"}); err == nil || !strings.Contains(err.Error(), "no round") {
		t.Errorf("%v, want that there is no round yet", err)
	}
}
