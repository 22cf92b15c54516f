package kube

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// because makes plans of w have one reason and message for all jobs.
func because(w *Backend, reason, message string) {
	w.o.Explain = func(s *policy.Snapshot, _ *policy.Plan) jobstate.Reasons {
		all := make(said)
		for _, e := range w.table.Order {
			all[e.ID] = [2]string{reason, message}
		}
		return all
	}
	w.Round(&policy.Snapshot{}, nil, nil)
}

func condOf(twin *kubetest.Cluster, name string) (reason, message string) {
	for _, c := range twin.Job(name).Status.Conditions {
		if c.Type == v1alpha1.ScheduledCondition {
			return c.Reason, c.Message
		}
	}
	return "", ""
}

// started makes a job run on a node as somebody else does it.
func started(twin *kubetest.Cluster, name, node string) *batchv1.Job {
	j := twin.Submit(queue, &kubetest.Ask{Name: name, Workers: 1, GPUs: 4})
	*j.Spec.Suspend = false
	j.Spec.Template.Spec.NodeName = node
	twin.Update(j)
	for range 3 {
		twin.Settle()
	}
	return j
}

// wantTold compares a job's condition.
func wantTold(t *testing.T, twin *kubetest.Cluster, name, reason, message string) {
	t.Helper()
	if r, m := condOf(twin, name); r != reason || m != message {
		t.Errorf("%s is told %s: %q, want %s: %q", name, r, m, reason, message)
	}
}

// What is planned is not what exists: in mode Recommend a condition has both.
func TestRecommend_tells_what_is_observed(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		j := started(twin, "elsewhere", "n1")
		w, a := one(t, twin, v1alpha1.Recommend)
		because(w, "as planned", "it keeps what it has")
		do(t, w, runOn(job.ID(j.UID), on("n0", 4)), runOn(a, on("n1", 4)))
		pass(t, w, twin)
		wantTold(t, twin, "elsewhere", "AsPlanned", "planned: 4 GPUs on n0:4 (it keeps what it has); observed: runs on 4 GPUs on n1:4")
		wantTold(t, twin, "a", "AsPlanned", "planned: 4 GPUs on n1:4 (it keeps what it has); observed: suspended")
		twin.End("elsewhere", batchv1.JobFailed)
		resumed := twin.Job("a")
		*resumed.Spec.Suspend = false
		twin.Update(resumed)
		pass(t, w, twin)
		wantTold(t, twin, "a", "AsPlanned", "planned: 4 GPUs on n1:4 (it keeps what it has); observed: some of its pods do not run yet")
	})
}

// A job that is planned on fewer GPUs than it requests is told so.
func TestVerdict_of_fewer_GPUs(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 4, GPUs: 1, Annotations: map[string]string{v1alpha1.MinGPUs: "1", v1alpha1.ResizeBy: "Restart"}}).UID)
		w := open(t, twin, options(v1alpha1.Resize))
		because(w, "started", "there is room for it")
		do(t, w, runOn(id, on("n0", 2)))
		pass(t, w, twin)
		wantTold(t, twin, "a", "Started", "there is room for it; these are 2 of the 4 GPUs that it requests, because its program has not reported its speed")
	})
}

// A job that runs past the queue does not wait: its condition says that it runs, and where.
func TestUnmanaged_jobs_are_told_so(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		started(twin, "past", "n1")
		out := twin.Submit(queue, &kubetest.Ask{Name: "out", Workers: 1, GPUs: 1, Annotations: map[string]string{v1alpha1.OptOut: "true"}})
		w, _ := one(t, twin, v1alpha1.Admit)
		pass(t, w, twin)
		wantTold(t, twin, "past", notManaged, "the scheduler did not start it and does not change it; its GPUs count as used; observed: runs on 4 GPUs on n1:4")
		wantTold(t, twin, out.Name, notManaged, "it has opted out; its GPUs count as used; observed: suspended")
	})
}

// A job whose GPUs other pods have not left is not starting: its condition says what is waited for.
func TestPlanned_jobs_that_are_not_started_are_told_so(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, runs, waits := behind(t, twin)
		because(w, "pinned in restore", "it is starting or restoring its checkpoint")
		do(t, w, scheduler.Preempt{Job: runs}, runOn(waits, on("n0", 4)))
		unstopped(t, w, twin)
		wantTold(t, twin, "b", notStarted, "starts on 4 GPUs on n0:4 once the previous pods there are gone")
		pass(t, w, twin)
		wantTold(t, twin, "b", "PinnedInRestore", "it is starting or restoring its checkpoint")
	})
}

// said are reasons and their words.
type said map[job.ID][2]string

func (s said) Reason(id job.ID) string { return s[id][0] }

func (s said) Text(id job.ID) string { return s[id][1] }
