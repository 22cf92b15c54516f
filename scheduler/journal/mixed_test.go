package journal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// mixed is a job that got GPUs of two types.
var mixed = scheduler.Run{
	Job: "m", Allocation: cluster.Allocation{Configuration: gpus(1, 8, "a100").Configuration, Also: gpus(1, 2, "t4").Configuration},
	Placement: append(on("a0", 8), on("t0", 2)...), Resized: true,
}

// mixedRun is a run of that job.
func mixedRun(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out, testHeader(t))
	w.Event(start, scheduler.Submitted{Spec: &job.Spec{ID: "m", MixedSpeed: 0.7, Adaptivity: job.Rigid | job.Heterogeneous}})
	p := &policy.Plan{Jobs: []policy.Decision{{Allocation: mixed.Allocation, Placement: mixed.Placement}}}
	w.Round(snapshot(time.Minute, 1, "m"), p, []scheduler.Action{mixed})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWriter_writes_two_types(t *testing.T) {
	text := mixedRun(t)
	for _, part := range []string{
		`"mixed_speed":0.7`, `{"run":"m","gets":[1,8,"a100",[1,2,"t4"]],"on":[["a0",8],["t0",2]],"resized":true}`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("got %s, want %s in it", text, part)
		}
	}
	_, records, err := readAll(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(scheduler.Action(mixed), records[1].Round.Actions[0]); diff != "" {
		t.Error(diff)
	}
	if got := records[1].Round.Changed[0].Allocation; got != mixed.Allocation {
		t.Errorf("got %v, want %v", got, mixed.Allocation)
	}
}

func TestReader_rejects_what_is_no_second_type(t *testing.T) {
	for gets, want := range map[string]string{
		`[1,8,"a100",[1,2]]`:                     `got "]]`,
		`[1,8,"a100",[]]`:                        "want a number",
		`[1,8,"a100",[1,-2,"t4"]]`:               "want a whole number from 0",
		`[1,8,"a100",[1,2,"t4"],[1,2,"t4"]]`:     "want a number",
		`[1,8,"a100",[1,2,"t4"],3]`:              `want ","`,
		`[1,8,"a100",[1,2,"t4"],3,4,[1,2,"t4"]]`: `want "]"`,
	} {
		text := strings.Replace(Unsealed(mixedRun(t)), `[1,8,"a100",[1,2,"t4"]]`, gets, 1)
		if _, _, err := readAll(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", gets, err, want)
		}
	}
}

// A replay compares both types.
func TestReplay_compares_two_types(t *testing.T) {
	for also, same := range map[int]bool{2: true, 1: false} {
		b, ctx := replay(t, mixedRun(t)), context.Background()
		for {
			ev, err := b.Next(ctx, after(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			if ev == nil {
				break
			}
		}
		act := mixed
		act.Allocation.Also.GPUs = also
		err := b.Do(ctx, []scheduler.Action{act})
		var differs *Difference
		if same != (err == nil) || !same && !errors.As(err, &differs) {
			t.Errorf("%d GPUs of the second type: got error %v", also, err)
		}
		if _, err := b.Next(ctx, after(time.Hour)); !errors.Is(err, io.EOF) {
			t.Errorf("got %v, want the end", err)
		}
	}
}
