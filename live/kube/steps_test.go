package kube

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
)

// elastic returns a job of workers of one GPU, so many of which run on node n, that is planned
// to have others there; 0: it is not, and was not.
func elastic(id string, has, gets int) *jobstate.Job {
	e := &jobstate.Job{Parsed: &jobadapter.Job{UID: id, Generation: 1, Workers: has}, Spec: &job.Spec{ID: job.ID(id)}, Held: jobstate.Grant{Generation: 1}}
	e.Parsed.PerWorker.GPUs, e.Parsed.Suspended = 1, has == 0
	if gets > 0 {
		e.Held.GPUs = gets
		e.Held.Placement = cluster.Placement{{Node: "n", Resources: cluster.Resources{GPUs: gets}}}
	}
	for i := range has {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(id, i), Labels: map[string]string{v1alpha1.Generation: "1"}}}
		p.Spec.NodeName = "n"
		e.Pods = append(e.Pods, p)
	}
	return e
}

// GPUs of workers that are to leave a job are given to no other before they have left.
func TestSteps_release_before_they_acquire(t *testing.T) {
	for _, c := range []struct {
		name string
		jobs []*jobstate.Job
		want string
	}{
		{"one shrinks, one starts", []*jobstate.Job{elastic("a", 8, 4), elastic("b", 0, 4)}, "[a resize]"},
		{"one shrinks, one grows", []*jobstate.Job{elastic("a", 4, 2), elastic("b", 4, 6)}, "[a resize]"},
		{"one stops, one grows", []*jobstate.Job{elastic("a", 4, 0), elastic("b", 4, 8)}, "[a stop]"},
		{"there is room for both", []*jobstate.Job{elastic("a", 2, 4), elastic("b", 0, 4)}, "[a resize b start]"},
	} {
		w := newWorld(t, nil, nil)
		w.table.Order = c.jobs
		var got []string
		for _, s := range w.planner().Steps(&observe.Observation{Nodes: []cluster.Node{{ID: "n", Capacity: cluster.Resources{GPUs: 8}}}}) {
			got = append(got, string(s.Job.ID())+" "+s.What)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: got %v, want %s", c.name, got, c.want)
		}
	}
	done := elastic("a", 8, 4)
	done.Pods, done.Parsed.Workers = done.Pods[:4], 4
	w := newWorld(t, nil, nil)
	w.table.Order = []*jobstate.Job{done, elastic("b", 0, 4)}
	if got := w.planner().Steps(&observe.Observation{Nodes: []cluster.Node{{ID: "n", Capacity: cluster.Resources{GPUs: 8}}}}); len(got) != 1 || got[0].What != "start" {
		t.Errorf("once they have left: got %d steps, want the start", len(got))
	}
}

// A job that was started waits with its pods for those that came to its nodes since: a leader
// that was halted in the middle of a write has sent them there.
func TestSteps_look_again_before_pods_go_to_their_nodes(t *testing.T) {
	old, next := elastic("a", 4, 0), elastic("b", 8, 8)
	old.Parsed.Suspended = true
	for _, p := range next.Pods {
		p.Spec.NodeName, p.Spec.SchedulingGates = "", []corev1.PodSchedulingGate{{Name: v1alpha1.PlacementGate}}
	}
	w := newWorld(t, nil, nil)
	w.table.Order = []*jobstate.Job{old, next}
	s := &observe.Observation{Nodes: []cluster.Node{{ID: "n", Capacity: cluster.Resources{GPUs: 8}}}}
	if got := w.planner().Steps(s); len(got) != 0 {
		t.Errorf("%s is to %s, and 4 GPUs of its node are in use: want that it waits", got[0].Job.ID(), got[0].What)
	}
	old.Pods = nil
	if got := w.planner().Steps(s); len(got) != 1 || got[0].What != "pin" {
		t.Errorf("once they have left: got %d steps, want that its pods go to their node", len(got))
	}
}

// A job of which a worker has succeeded stays as large as it is, and has a minute to end before
// it is stopped; a worker that is made once more beside those that have succeeded goes to its node.
func TestSteps_of_a_job_that_ends(t *testing.T) {
	s := &observe.Observation{Nodes: []cluster.Node{{ID: "n", Capacity: cluster.Resources{GPUs: 8}}}}
	w := newWorld(t, nil, nil)
	grows := elastic("a", 2, 4)
	w.table.Order = []*jobstate.Job{grows}
	grows.Pods[0].Status.Phase = corev1.PodSucceeded
	if got := w.planner().Steps(s); len(got) != 0 {
		t.Errorf("it is to %s, want it left as it is", got[0].What)
	}
	stops := elastic("c", 2, 0)
	w.table.Order = []*jobstate.Job{stops}
	stops.Ending = time.Now()
	if got := w.planner().Steps(s); len(got) != 0 {
		t.Errorf("it is to %s, want it left to end", got[0].What)
	}
	stops.Ending = time.Now().Add(-jobstate.ToEnd)
	if got := w.planner().Steps(s); len(got) != 1 || got[0].What != "stop" {
		t.Errorf("got %d steps, want it stopped after a minute", len(got))
	}
	again := elastic("b", 2, 2)
	w.table.Order = []*jobstate.Job{again}
	again.Pods[0].Status.Phase = corev1.PodSucceeded
	again.Pods[0].Labels[v1alpha1.Generation] = "0" // it did before the job was stopped
	again.Pods[1].Spec.NodeName, again.Pods[1].Spec.SchedulingGates = "", []corev1.PodSchedulingGate{{Name: v1alpha1.PlacementGate}}
	if got := w.planner().Steps(s); len(got) != 1 || got[0].What != "pin" {
		t.Errorf("got %d steps, want that the other goes to its node", len(got))
	}
}
