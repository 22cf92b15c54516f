package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestLimited: of many commands, at most so many begin in any minute, and all begin.
func TestLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun []time.Time
		run := Limited(func(context.Context, Command) ([]byte, error) {
			begun = append(begun, time.Now())
			time.Sleep(time.Second)
			return nil, nil
		}, 5)
		for range 23 {
			if _, err := run(t.Context(), Command{}); err != nil {
				t.Fatal(err)
			}
		}
		for i := 5; i < len(begun); i++ {
			if d := begun[i].Sub(begun[i-5]); d < time.Minute {
				t.Errorf("calls %d and %d are %v apart, want a minute", i-5, i, d)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range 5 {
			_, err := run(ctx, Command{})
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		if ctx.Err() == nil {
			t.Error("five more commands did not wait")
		}
	})
}

// TestPace: looks are rarer while nothing changes, and where slurmctld is slow.
func TestPace(t *testing.T) {
	p := DefaultPace()
	for i, step := range []struct {
		took    time.Duration
		changed bool
		want    time.Duration
	}{
		{10 * time.Millisecond, false, 2 * time.Second},
		{10 * time.Millisecond, false, 4 * time.Second},
		{10 * time.Millisecond, false, 8 * time.Second},
		{10 * time.Millisecond, true, 2 * time.Second},
		{400 * time.Millisecond, true, 20 * time.Second},
		{2 * time.Second, false, 100 * time.Second},
		{0, false, 8 * time.Second},
		{0, false, 16 * time.Second},
		{0, false, 30 * time.Second},
		{0, false, 30 * time.Second},
	} {
		if got := p.Next(step.took, step.changed); got != step.want {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
}
