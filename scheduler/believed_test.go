package scheduler_test

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// What a job is believed to have done is what it last reported and what it has trained since;
// it keeps that where it is preempted and where it is moved.
func TestScheduler_believed_progress(t *testing.T) {
	d := newBench(t, unprofiled())
	d.step(scheduler.Submitted{Spec: &job.Spec{ID: "a", GPUs: 4, Target: 3600, Timed: true}}) // a second's work a second
	check := func(when string, want float64) {
		t.Helper()
		if got := d.row("a").Done(d.now); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g done, want %g", when, got, want)
		}
	}
	pass := func(minutes int, node cluster.NodeID) {
		if delete(d.policy.grants, "a"); node != "" {
			d.policy.grants["a"] = on(share(node, 4))
		}
		d.now = d.now.Add(time.Duration(minutes-1) * time.Minute)
		d.round()
	}
	pass(1, "n0")
	d.report("a", 10)
	pass(2, "n0")
	check("two minutes after a report", 130)
	d.report("a", 140)
	pass(2, "n0")
	check("two minutes after the next", 260)
	pass(1, "")
	check("preempted", 320)
	pass(5, "")
	check("waiting", 320)
	pass(1, "n0")
	check("restoring", 320)
	d.report("a", 320)
	pass(1, "n1")
	check("moved", 380)
}
