package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// firstVersion makes a database as the first version left it: by the first migration
// alone, with rows that are frozen in testdata/version1.sql.
func firstVersion(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "oxgang.db")
	must(t, create(path, migrations[:1]))
	rows, err := os.ReadFile("testdata/version1.sql")
	must(t, err)
	must(t, alter(path, string(rows)))
	return dir
}

// TestFirstVersion: what the first version wrote is read, every field of it. If this test
// fails after a change to a stored type, old databases cannot be read: a migration is
// needed, not another testdata/version1.sql.
func TestFirstVersion(t *testing.T) {
	s := opened(t, firstVersion(t))
	st := loaded(t, s)
	if s.Identity() != "THEFIRST" {
		t.Errorf("identity %q, want THEFIRST", s.Identity())
	}
	want := &State{
		Round: 41, Time: at(60),
		Jobs:  []Known{{Job: firstJob(), After: []Report{firstReport()}}},
		Ended: []Known{{Job: firstEnded()}},
	}
	if diff := cmp.Diff(want, st); diff != "" {
		t.Error(diff)
	}
	if j := accepted(t, s, "new", ""); j.Number != 3 {
		t.Errorf("number %d, want 3", j.Number)
	}
}

// firstJob is the running job of testdata/version1.sql: no field is zero.
func firstJob() *Job {
	h200 := cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "h200"}
	j := &Job{
		Spec: &job.Spec{
			ID: "bert", Name: "BERT", User: "ada", Queue: "night", Class: "bert", Weight: 2, GPUs: 2, BatchSize: 128, MinGPUs: 1, MaxGPUs: 4,
			GPUsPerReplica: map[cluster.GPUType]int{"h200": 1}, MicroBatches: 3, Equivalents: map[cluster.GPUType]int{"t4": 3}, MixedSpeed: 0.7,
			WorkerGPUs: 1, Resizes: true, NoCheckpoint: true, GPUTypes: []cluster.GPUType{"h200", "t4"}, CPUs: 8.5, Memory: 1 << 33,
			Input: job.Input{Working: 1, Dataset: 2, Storage: 3.5}, Adaptivity: job.Adaptive | job.Heterogeneous,
			Batch:    job.BatchLimits{Init: 128, Max: 1024, LocalMin: 1, LocalMax: map[cluster.GPUType]int{"h200": 64}},
			Schedule: job.BatchSchedule{Mode: job.Given, Epochs: 10, Sizes: []int{128, 256}, Regimes: []job.Regime{{BatchSize: 128, Epochs: 10}}},
			Goal:     job.LatencyBound, Latency: time.Second, Target: 1e6, RestartOverhead: 25 * time.Second, NonPreemptive: true,
			Reservation: h200,
		},
		Request: Request{Command: []string{"python", "train.py"}, Dir: "/home/ada", Env: []string{"A=1"}},
		Token:   "secret", Number: 1, Generation: 3, Failures: 1,
		Status: job.Status{
			Phase: job.Running, Submitted: at(0), FirstStarted: at(1), Finished: at(2), Since: at(3), Service: time.Minute, GPUService: 2 * time.Minute,
			Restarts: 2, Progress: 12.5, Epoch: 1, Batch: job.BatchSize{Local: 16, Accumulation: 2}, MaxGPUs: 2,
			Allocation: cluster.Allocation{Configuration: h200, Also: cluster.Configuration{Nodes: 1, GPUs: 3, GPUType: "t4"}, CPUs: 8.5, Memory: 1 << 33},
			Placement:  cluster.Placement{{Node: "here", Resources: cluster.Resources{GPUs: 2, CPUs: 8.5, Memory: 1 << 33}}},
		},
		Batch: job.BatchSize{Local: 32, Accumulation: 1}, Held: []int{5, 4},
		Checkpoint: &Checkpoint{Step: 1000, Progress: 128000, At: at(50), Bytes: 123, Checksum: "sha256:ab", Path: "step-1000", Seconds: 0.8},
	}
	asked := *j.Spec
	asked.Target = 0 // its program said more
	j.Asked = &asked
	return j
}

// firstReport is what that job reported after the plan.
func firstReport() Report {
	return Report{At: at(61), Report: job.Report{
		Job: "bert", Interval: 30 * time.Second, Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "h200"}, CPUs: 8, Memory: 1 << 30,
		Batch: job.BatchSize{Local: 32, Accumulation: 1}, StepTime: 210 * time.Millisecond, SyncTime: 30 * time.Millisecond,
		GradSqr: 0.5, GradVar: 1.5, Progress: 151000.5, Epoch: 2, Profile: true,
	}}
}

// firstEnded is the job of testdata/version1.sql that ended.
func firstEnded() *Job {
	return &Job{
		Spec: &job.Spec{ID: "old", Class: "bert"}, Asked: &job.Spec{ID: "old", Class: "bert"}, Token: "other", Number: 2,
		Status: job.Status{Phase: job.Failed, Submitted: at(0), Since: at(9), Finished: at(9)},
		Ended:  &Ending{Outcome: scheduler.Failed, Detail: "exit 1", At: at(9)},
	}
}

// TestMigrate: later migrations are carried out once, each as a whole, and data stays.
func TestMigrate(t *testing.T) {
	dir := firstVersion(t)
	list := []string{
		migrations[0],
		"ALTER TABLE state ADD COLUMN place TEXT NOT NULL DEFAULT 'here'",
		"CREATE TABLE other (n INTEGER) STRICT; INSERT INTO nowhere VALUES (1)",
	}
	_, err := open(dir, list)
	wants(t, err, "store: migration to schema 3: ")
	wants(t, err, "no such table: nowhere")
	list[2] = "CREATE TABLE other (n INTEGER) STRICT; INSERT INTO other VALUES (1)"
	for range 2 {
		s, err := open(dir, list)
		must(t, err)
		rows, place, round := 0, "", 0
		must(t, s.reader.QueryRow("SELECT count(*), place, round FROM other, state").Scan(&rows, &place, &round))
		if rows != 1 || place != "here" || round != 41 {
			t.Errorf("%d rows, place %q, round %d; want 1, here, 41", rows, place, round)
		}
		must(t, s.Close())
	}
	_, err = Open(dir)
	wants(t, err, "store: schema 3 is newer than this version of oxgang supports (2): use a newer version")
	must(t, alter(filepath.Join(dir, "oxgang.db"), "PRAGMA user_version = 7"))
	_, err = Open(dir)
	wants(t, err, "store: schema 7 is newer than this version of oxgang supports (2): use a newer version")
}
