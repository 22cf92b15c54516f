package status

import (
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// ETA is in how long a job ends or, if only that is known, starts.
func TestETA(t *testing.T) {
	at := now.Add
	for _, c := range []struct {
		job  Job
		want string
	}{
		{Job{}, ""},
		{Job{Start: Range{Unknown: "nobody asked"}}, ""},
		{Job{Start: Range{Late: at(time.Hour)}}, "starts <1h00m"},
		{Job{Start: Range{Late: at(time.Hour)}, End: Range{Early: at(time.Hour)}}, ">1h00m"},
		{Job{End: Range{Late: at(time.Minute)}}, "<1m"},
		{Job{End: Range{Early: at(-time.Hour), Late: at(26 * time.Hour)}}, "<1d2h"},
		{Job{End: Range{Early: at(time.Hour), Late: at(time.Hour)}}, "1h00m"},
		{Job{End: Range{Early: at(time.Hour)}, Outcome: "done"}, ""},
	} {
		if got := c.job.eta(now); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.job, got, c.want)
		}
	}
}

// A job that ended well did at least what it reported last.
func TestProgress_of_a_job_whose_last_reports_are_lost(t *testing.T) {
	for _, c := range []struct {
		job  Job
		want string
	}{
		{Job{Target: 4, Progress: 1}, "25.0 %"},
		{Job{Target: 4, Progress: 1, Outcome: "done"}, "≥ 25.0 %"},
		{Job{Target: 4, Progress: 1, Outcome: "failed"}, "25.0 %"},
		{Job{Target: 4, Progress: 5, Outcome: "done"}, "100.0 %"},
	} {
		if got := c.job.progress(); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.job, got, c.want)
		}
	}
}

// A silent scheduler is the first warning, with the date if it has been silent for half a day.
func TestWarnings_of_a_silent_scheduler(t *testing.T) {
	s := Status{At: now, Attention: []string{"another"}}
	for ago, layout := range map[time.Duration]string{time.Hour: "15:04", 13 * time.Hour: "2 Jan 15:04"} {
		s.SilentSince = now.Add(-ago)
		var b strings.Builder
		s.WriteHead(&b)
		if want := "warning: the scheduler has not answered since " + s.SilentSince.Local().Format(layout) + "; "; !strings.HasPrefix(b.String(), want) || !strings.HasSuffix(b.String(), "\nwarning: another\n") {
			t.Errorf("%q, want %q first", b.String(), want)
		}
	}
	if s.SilentSince = (time.Time{}); len(s.Warnings()) != 1 {
		t.Errorf("a scheduler that answers: %q", s.Warnings())
	}
}

// What somebody wrote into an object moves no cursor and makes no line, in the text of a job and in tables.
func TestTexts_are_printable(t *testing.T) {
	const hostile = "x\x1b[2J\r\nstart    now\u202e"
	for _, backend := range []backend{Machine, Kubernetes, Slurm} {
		s := Status{
			Backend: backend, At: now, Attention: []string{hostile}, Queues: []Queue{{Name: hostile, Message: hostile}},
			Jobs:  []Job{{ID: "a/b", Name: hostile, Kind: hostile, Phase: "waiting", Reason: hostile, Sentence: hostile, Unblock: hostile}},
			Nodes: []Node{{Name: hostile, Cause: hostile, Idle: hostile, Slots: []Slot{{Visible: hostile}}}},
		}
		var b strings.Builder
		s.WriteHead(&b)
		for _, err := range []error{s.WriteQueues(&b, Options{Wide: true}), s.WriteJobs(&b, s.Jobs, Options{Wide: true}), s.WriteNodes(&b, Options{}), s.WriteIdle(&b, Options{}), s.Jobs[0].WriteText(&b, now)} {
			if err != nil {
				t.Error(err)
			}
		}
		if text := b.String(); strings.ContainsAny(text, "\x1b\r\u202e") || strings.Contains(text, "\nstart") || !strings.Contains(text, "[2J") {
			t.Errorf("%s: %q", backend, text)
		}
	}
}

// The text of a job has a line for what is known, and for what is planned if that is something else.
func TestWriteText(t *testing.T) {
	j := Job{
		ID: "team/bert", Name: "bert", Kind: "Job", Queue: "training", Phase: "running", Asked: "8 GPUs", GPUs: 8, Nodes: []Share{{"n1", 8}}, Pods: 2, Ready: 1,
		Plan: &Plan{Round: 7, GPUs: 4, GPUType: "h200", Nodes: []Share{{"n2", 4}}}, Reason: "Started", Sentence: "there is room", Since: now.Add(-time.Hour),
		End: Range{Early: now, Likely: now.Add(time.Hour), Late: now.Add(2 * time.Hour), Probability: 0.8},
	}
	const want = `team/bert (Job, queue training) is running
holds    8 GPUs on n1:8
pods     1 of 2 run
planned  4 h200 GPUs on n2:4
reason   Started: there is room
since    2025-12-31 23:00 UTC, 1h00m ago
end      2026-01-01 00:00 UTC to 2026-01-01 02:00 UTC, median 2026-01-01 01:00 UTC (80 % likely)
plan     round 7
`
	var b strings.Builder
	if err := j.WriteText(&b, now); err != nil || b.String() != want {
		t.Errorf("%v, got\n%swant\n%s", err, &b, want)
	}
}
