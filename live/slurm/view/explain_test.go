package view

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/status"
)

// labels returns the jobs of an explanation, those that ended in parentheses.
func labels(e *status.Status) string {
	var all []string
	for i := range e.Jobs {
		all = append(all, string(e.Jobs[i].ID))
	}
	for i := range e.Ended {
		all = append(all, "("+string(e.Ended[i].ID)+" "+e.Ended[i].State+")")
	}
	return strings.Join(all, " ")
}

// TestExplain: a number names what users mean by it: a job, tasks that run or wait, all of an array, components.
func TestExplain(t *testing.T) {
	l := recorded(t)
	for id, want := range map[string]string{
		"11": "11", "3": "3_0 3_1 3_[2-9%2]", "3_1": "3_1", "16": "3_1", "3_7": "3_[2-9%2]", "3_[2-9%2]": "3_[2-9%2]", "4": "4+0 4+1", "4+1": "4+1",
		"5": "4+1", "10": "(10 COMPLETED)", "14": "(14 FAILED)",
	} {
		e, err := Explain(l, nil, "not asked", id)
		if err != nil || labels(e) != want {
			t.Errorf("%s: %v, %v, want %s", id, e, err, want)
		}
	}
	for _, id := range []string{"3_10", "3_x", "999", "", "1_0", "11_"} {
		if e, err := Explain(l, nil, "not asked", id); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "not asked") {
			t.Errorf("%s: %v, %v, want that it is not known, and why", id, e, err)
		}
	}
}

// TestExplain_past: of a job that Slurm has forgotten, accounting tells the last run; of each task of an array.
func TestExplain_past(t *testing.T) {
	begin := time.Unix(1_800_000_000, 0)
	run := func(id client.ID, label string, s client.State, after time.Duration) client.Run {
		return client.Run{ID: id, Label: label, State: s, Start: begin.Add(after), End: begin.Add(after + time.Minute), Elapsed: time.Minute, ExitCode: 7}
	}
	runs := []client.Run{
		run(900, "900", client.Completed, time.Hour), run(900, "900", client.Requeued, 0),
		run(901, "800_1", client.Failure, 0), run(800, "800_2", client.Completed, 0), run(950, "950+0", client.Cancelled, 0), run(951, "950+1", client.Cancelled, 0),
	}
	for id, want := range map[string]string{
		"900": "(900 COMPLETED)", "800": "(800_1 FAILED) (800_2 COMPLETED)", "800_1": "(800_1 FAILED)", "950": "(950+0 CANCELLED) (950+1 CANCELLED)",
	} {
		e, err := Explain(recorded(t), runs, "", id)
		if err != nil || labels(e) != want || !strings.HasPrefix(e.Ended[0].Detail, "exit status 7, ") {
			t.Errorf("%s: %+v, %v, want %s", id, e, err, want)
		}
	}
	if _, err := Explain(recorded(t), runs, "", "90"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "past") {
		t.Errorf("another: %v, want that it is not known", err)
	}
}

// TestAmong: lists of tasks as Slurm writes them.
func TestAmong(t *testing.T) {
	for tasks, want := range map[string][]int{"1,4-6%2": {1, 4, 5, 6}, "0-8:4": {0, 4, 8}, "7": {7}, "": nil, "1-x": nil, "0-3:0": nil, "...": nil} {
		var got []int
		for n := range 10 {
			if among(tasks, n) {
				got = append(got, n)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%q has %v, want %v", tasks, got, want)
		}
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("%q has %v, want %v", tasks, got, want)
			}
		}
	}
}

// TestWaiting_held: who holds a job is said by the mark of the scheduler, where it is there, and not by Slurm's code.
func TestWaiting_held(t *testing.T) {
	for mark, want := range map[string]string{"oxgang:hold;generation=2": "Oxgang holds it", "": "an administrator holds it", "oxgang:nice=3": "an administrator holds it"} {
		l := recorded(t)
		for i := range l.Jobs {
			if l.Jobs[i].ID == 6 {
				l.Jobs[i].Reason, l.Jobs[i].Priority, l.Jobs[i].AdminComment = "JobHeldAdmin", 0, mark
			}
		}
		if j := find(t, StatusOf(l, nil, ""), "6"); !strings.HasPrefix(j.Sentence, want) || j.Reason != "JobHeldAdmin" {
			t.Errorf("mark %q: %s: %s, want %s", mark, j.Reason, j.Sentence, want)
		}
	}
}

// TestRunning_silent: that a program says nothing is told where its mark says so.
func TestRunning_silent(t *testing.T) {
	for mark, want := range map[string]bool{"oxgang:silent;generation=1": true, "oxgang:generation=1": false, "silent": false} {
		l := recorded(t)
		for i := range l.Jobs {
			if l.Jobs[i].ID == 1 {
				l.Jobs[i].AdminComment = mark
			}
		}
		if j := find(t, StatusOf(l, nil, ""), "1"); (j.Trouble != "") != want {
			t.Errorf("mark %q: %q is told, want something: %v", mark, j.Trouble, want)
		}
	}
}
