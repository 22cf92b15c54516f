package slurm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/simulate/trace/slurm"
)

func TestReadSettings(t *testing.T) {
	const said = `Configuration data as of 2026-11-25T22:43:00
PriorityCalcPeriod      = 00:01:00
PriorityMaxAge          = 14-00:00:00
PriorityWeightAge       = 1000
PreemptMode             = REQUEUE
SchedulerParameters     = bf_interval=5,bf_window=2880,bf_max_job_test=1000,default_queue_depth=50,bf_continue,defer
SchedulerType           = sched/backfill
`
	want := &slurm.Settings{
		Age: 1000, MaxAge: 14 * 24 * time.Hour, Calculated: time.Minute, Interval: 5 * time.Second, Horizon: 48 * time.Hour, Tests: 1000, Depth: 50,
		Unlike: []string{"PreemptMode=REQUEUE: preemption is not replayed", "SchedulerParameters=defer: not replayed"},
	}
	got, err := slurm.ReadSettings(strings.NewReader(said), "config.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want, got:\n%s", diff)
	}
}

func TestReadSettings_errors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "config.txt: no settings of Slurm, want what this prints: scontrol show config",
		"\nPriorityMaxAge = x":                 `config.txt:2: prioritymaxage=x: "x", want a time like 7-00:00:00`,
		"PriorityWeightAge = ?":                "config.txt:1: priorityweightage=?: ",
		"SchedulerParameters = bf_interval=-1": "config.txt:1: schedulerparameters=bf_interval=-1: bf_interval=-1, want a whole number",
	} {
		if _, err := slurm.ReadSettings(strings.NewReader(text), "config.txt"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}
