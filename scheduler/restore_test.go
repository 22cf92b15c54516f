package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// measured is a report of a job on GPUs of one node.
func measured(id job.ID, gpus int, progress float64) job.Report {
	return job.Report{
		Job: id, Interval: time.Minute, Configuration: cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "t4"},
		Batch: job.BatchSize{Local: 32}, StepTime: time.Second, SyncTime: 100 * time.Millisecond, Progress: progress,
	}
}

// A scheduler that is started again and told of its jobs goes on as if nothing had been.
func TestScheduler_goes_on_after_a_restart(t *testing.T) {
	before := newBench(t, unprofiled())
	before.submit("a", "b")
	before.policy.grants["a"] = on(share("n0", 2))
	before.round()
	report := measured("a", 2, 640)
	before.step(scheduler.Reported{Report: report})
	rows := before.Snapshot(before.now).Jobs

	after := newBench(t, unprofiled())
	after.now, after.policy.grants = before.now, before.policy.grants
	for _, row := range []*job.Status{&rows[1].Status, &rows[0].Status} { // in any order
		ev := scheduler.Restored{Spec: rows[1].Spec, Status: *row}
		if row == &rows[0].Status {
			ev.Spec, ev.Reports = rows[0].Spec, []job.Report{report}
		}
		after.step(ev)
	}
	for i, want := range rows {
		got := after.Snapshot(after.now).Jobs[i]
		if diff := cmp.Diff(want.Status, got.Status); diff != "" || got.ID != want.ID {
			t.Errorf("job %s: status of %s: %s", want.ID, got.ID, diff)
		}
		if (got.Perf == nil) != (want.Perf == nil) {
			t.Errorf("job %s: got model %v, want %v", want.ID, got.Perf, want.Perf)
		}
	}
	a := cluster.Allocation{Configuration: report.Configuration}
	if got, want := after.row("a").Perf.Throughput(a, report.Batch), rows[0].Perf.Throughput(a, report.Batch); got != want || got <= 0 {
		t.Errorf("believed speed %g, want %g as before", got, want)
	}
	if _, _, acts := after.round(); len(acts) != 0 {
		t.Errorf("got actions %v, want none: all is as planned", acts)
	}
}

func TestScheduler_restored_jobs_that_ended(t *testing.T) {
	o := unprofiled()
	o.Estimate.Share = true
	d := newBench(t, o)
	old := &job.Spec{ID: "old", Class: "cnn", Adaptivity: job.StrongScaling}
	d.step(scheduler.Restored{Spec: old, Status: job.Status{Phase: job.Completed}, Reports: []job.Report{measured("old", 2, 1)}})
	if d.Jobs() != 0 {
		t.Errorf("got %d jobs, want none: it has ended", d.Jobs())
	}
	d.step(scheduler.Submitted{Spec: &job.Spec{ID: "new", Class: "cnn", Adaptivity: job.StrongScaling}})
	if d.row("new").Perf == nil {
		t.Error("nothing is known of a new job, want what its class was seen to do")
	}
	for _, ev := range []scheduler.Event{scheduler.Submitted{Spec: old}, scheduler.Restored{Spec: old}} {
		if _, err := d.Step(d.now, ev); err == nil || !strings.Contains(err.Error(), "old") {
			t.Errorf("%T: got error %v, want one that names the job", ev, err)
		}
	}
	bad := measured("bad", 2, -1)
	if _, err := d.Step(d.now, scheduler.Restored{Spec: &job.Spec{ID: "bad"}, Reports: []job.Report{bad}}); err == nil || !strings.Contains(err.Error(), "progress") {
		t.Errorf("got error %v, want one about the restored report's progress", err)
	}
}

// What its program says of a job replaces what was submitted; what was measured stays.
func TestScheduler_a_job_is_described(t *testing.T) {
	d := newBench(t, unprofiled())
	d.submit("a")
	d.policy.grants["a"] = on(share("n0", 2))
	d.round()
	d.step(scheduler.Reported{Report: measured("a", 2, 640)})
	was := d.row("a")
	d.step(scheduler.Described{Spec: &job.Spec{ID: "a", Adaptivity: job.Adaptive, Batch: job.BatchLimits{Init: 64, Max: 512}, Target: 1e6}})
	got := d.row("a")
	if got == was || got.Target != 1e6 || got.Limits.Max != 512 || got.Perf == nil || got.Progress != 640 {
		t.Errorf("got %+v with limits %+v, want a new row with what was said and what was measured", got, got.Limits)
	}
	if _, err := d.Step(d.now, scheduler.Described{Spec: &job.Spec{ID: "b"}}); err == nil || !strings.Contains(err.Error(), "job b: never submitted") {
		t.Errorf("got error %v, want that b was never submitted", err)
	}
}

// A saved state has the nodes, the rentals and the loans.
func TestMemory_has_the_nodes(t *testing.T) {
	ev := scheduler.NodesChanged{Cluster: nodes(t, "n0", "n1"), Rentals: offered(), Loans: lent()}
	from, into := newBench(t, unprofiled()), newBench(t, unprofiled())
	from.step(ev)
	text, err := memory.Marshal(from.Memory())
	if err != nil {
		t.Fatal(err)
	}
	if err := memory.Unmarshal(text, into.Memory()); err != nil {
		t.Fatal(err)
	}
	got := into.Memory().Nodes()
	if diff := cmp.Diff(ev.Rentals, got.Rentals) + cmp.Diff(ev.Loans, got.Loans) + cmp.Diff(ev.Cluster.Nodes(), got.Cluster.Nodes()); diff != "" {
		t.Error(diff)
	}
}

// A saved state has what jobs hold and have done, and the reasons: the next round changes nothing.
func TestMemory_has_the_jobs(t *testing.T) {
	from, into := newBench(t, unprofiled()), newBench(t, unprofiled())
	from.submit("a", "b")
	from.policy.grants["a"], into.policy.grants = on(share("n0", 2)), from.policy.grants
	from.round()
	from.report("a", 640)
	text, err := memory.Marshal(from.Memory())
	if err != nil {
		t.Fatal(err)
	}
	if err := memory.Unmarshal(text, into.Memory()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(from.Memory().Active(), into.Memory().Active()); diff != "" {
		t.Error(diff)
	}
	if a := into.Memory().Active()[0]; a.Status.Progress != 640 || a.Status.Allocation.GPUs != 2 {
		t.Errorf("%+v, want 640 samples on 2 GPUs", a.Status)
	}
	into.now = from.now
	if _, _, acts := into.round(); len(acts) != 0 {
		t.Errorf("got actions %v, want none: all is as planned", acts)
	}
}
