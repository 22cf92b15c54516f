package execute

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// elastic returns a job of workers of one GPU, so many of which run on node n, that is planned
// to have others there; 0: it is not, and was not.
func elastic(id string, has, gets int) *jobstate.Job {
	e := &jobstate.Job{Entry: driver.Entry{ID: job.ID(id)}, Parsed: &jobadapter.Job{UID: id, Generation: 1, Workers: has}, Spec: &job.Spec{ID: job.ID(id)}, Held: jobstate.Grant{Generation: 1}}
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

// now is when the tests are.
var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// planner returns a Planner of such jobs that may act. It has no client: what it decides is not
// carried out.
func planner(jobs ...*jobstate.Job) *Planner {
	o := jobstate.DefaultOptions()
	o.Queue = &v1alpha1.Queue{}
	o.Queue.Spec.Mode = v1alpha1.Resize
	t := jobstate.NewTable(driver.NewQueue(), nil)
	t.Plan, t.Order = &v1alpha1.Plan{}, jobs
	return NewPlanner(&Writer{Options: &o}, t)
}

// steps returns what is to be done now where node n has eight GPUs.
func steps(w *Planner) []Step {
	all, _ := w.Steps(eight(), now)
	return all
}

// eight is node n, as it is seen.
func eight() *observe.Observation {
	return &observe.Observation{Nodes: []cluster.Node{{ID: "n", Capacity: cluster.Resources{GPUs: 8}}}}
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
		w := planner(c.jobs...)
		var got []string
		for _, s := range steps(w) {
			got = append(got, string(s.Job.ID)+" "+s.What)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: got %v, want %s", c.name, got, c.want)
		}
	}
	done := elastic("a", 8, 4)
	done.Pods, done.Parsed.Workers = done.Pods[:4], 4
	w := planner(done, elastic("b", 0, 4))
	if got := steps(w); len(got) != 1 || got[0].What != "start" {
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
	w := planner(old, next)
	if got := steps(w); len(got) != 0 {
		t.Errorf("%s is to %s, and 4 GPUs of its node are in use: want that it waits", got[0].Job.ID, got[0].What)
	}
	old.Pods = nil
	if got := steps(w); len(got) != 1 || got[0].What != "pin" {
		t.Errorf("once they have left: got %d steps, want that its pods go to their node", len(got))
	}
}

// A job of which a worker has succeeded stays as large as it is, and has a minute to end before
// it is stopped; a worker that is made once more beside those that have succeeded goes to its node.
func TestSteps_of_a_job_that_ends(t *testing.T) {
	grows := elastic("a", 2, 4)
	w := planner(grows)
	grows.Pods[0].Status.Phase = corev1.PodSucceeded
	if got := steps(w); len(got) != 0 {
		t.Errorf("it is to %s, want it left as it is", got[0].What)
	}
	stops := elastic("c", 2, 0)
	w = planner(stops)
	stops.Ending = now
	if got := steps(w); len(got) != 0 {
		t.Errorf("it is to %s, want it left to end", got[0].What)
	}
	stops.Ending = now.Add(-jobstate.ToEnd)
	if got := steps(w); len(got) != 1 || got[0].What != "stop" {
		t.Errorf("got %d steps, want it stopped after a minute", len(got))
	}
	again := elastic("b", 2, 2)
	w = planner(again)
	again.Pods[0].Status.Phase = corev1.PodSucceeded
	again.Pods[0].Labels[v1alpha1.Generation] = "0" // it did before the job was stopped
	again.Pods[1].Spec.NodeName, again.Pods[1].Spec.SchedulingGates = "", []corev1.PodSchedulingGate{{Name: v1alpha1.PlacementGate}}
	if got := steps(w); len(got) != 1 || got[0].What != "pin" {
		t.Errorf("got %d steps, want that the other goes to its node", len(got))
	}
}

// A step that failed is not tried before its time, and nothing else is done to the job; then it
// is tried, and the trouble is over.
func TestSteps_wait_after_a_failure(t *testing.T) {
	e := elastic("a", 4, 0)
	e.Trouble, e.NotBefore = "stop: refused", now.Add(time.Second)
	w := planner(e)
	if all, notes := w.Steps(eight(), now); len(all)+len(notes) > 0 {
		t.Errorf("before its time: steps %v, notes %v", all, notes)
	}
	all, notes := w.Steps(eight(), now.Add(time.Second))
	if len(all) != 1 || all[0].What != "stop" || len(notes) != 1 || !notes[0].Retried {
		t.Fatalf("at its time: steps %v, notes %v: want that it is stopped, and tried again", all, notes)
	}
	if notes[0].Apply(); e.Trouble != "" {
		t.Errorf("trouble %q once the note is applied", e.Trouble)
	}
}

// drawJob draws a job of one node: planned or not, its generation started, stopped or before, with
// any of its pods there.
func drawJob(t *rapid.T, id string) *jobstate.Job {
	e := elastic(id, rapid.IntRange(0, 4).Draw(t, "has"), rapid.IntRange(0, 4).Draw(t, "gets"))
	e.Object = jobstate.ObjectOf(&unstructured.Unstructured{})
	e.Adapter = adapter{answer: rapid.IntRange(0, 2).Draw(t, "fit")}
	e.Held.Generation = rapid.Int64Range(1, 2).Draw(t, "generation")
	e.Parsed.Stopping = rapid.Bool().Draw(t, "stopping")
	if rapid.IntRange(0, 5).Draw(t, "stale") == 0 {
		e.StaleSince = now
	}
	if rapid.IntRange(0, 5).Draw(t, "ended") == 0 {
		e.Move(jobstate.End)
	}
	if rapid.IntRange(0, 3).Draw(t, "trouble") == 0 {
		e.Trouble, e.NotBefore = "start: refused", now.Add(rapid.SampledFrom([]time.Duration{-1, 0, 1}).Draw(t, "retry"))
	}
	for _, p := range e.Pods {
		p.Status.Phase = rapid.SampledFrom([]corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded}).Draw(t, "phase")
	}
	return e
}

// An adapter says of running pods that they fit, do not, or that it cannot tell.
type adapter struct {
	jobadapter.Kind
	answer int
}

func (a adapter) Fit(_ *unstructured.Unstructured, all []*corev1.Pod, _ *jobadapter.Grant) ([]jobadapter.Fitting, error) {
	switch a.answer {
	case 0:
		return nil, nil
	case 1:
		return nil, errors.New("cannot tell")
	}
	return []jobadapter.Fitting{{Is: all[0], ToBe: all[0]}}, nil
}

// What running pods ask for is compared once for a plan and the pods as they are: what came of it
// is a note, and it is not compared again before something is another.
func TestSteps_compare_pods_once(t *testing.T) {
	for answer, want := range []string{"", "cannot tell"} {
		e := elastic("a", 2, 2)
		e.Adapter, e.Object = adapter{answer: answer}, jobstate.ObjectOf(&unstructured.Unstructured{})
		for _, p := range e.Pods {
			p.Status.Phase = corev1.PodRunning
		}
		w := planner(e)
		_, notes := w.Steps(eight(), now)
		if len(notes) != 1 || notes[0].Fit == nil || notes[0].Fit.Why != want || e.Fit != (jobstate.Fit{}) {
			t.Fatalf("notes %+v, and the job has %+v: want a note of %q alone", notes, e.Fit, want)
		}
		notes[0].Apply()
		if _, notes = w.Steps(eight(), now); len(notes) > 0 {
			t.Errorf("compared again: %+v", notes)
		}
	}
}

// held returns the GPUs of node n that are taken: by pods that are not terminal, and by what was
// started, whichever is more for each job. Pods of ended jobs do not count: an observed capacity is without them.
func held(jobs []*jobstate.Job) (gpus int) {
	for _, e := range jobs {
		if e.Ended() {
			continue
		}
		n := len(e.Live())
		if e.Started() {
			n = max(n, e.Held.GPUs)
		}
		gpus += n
	}
	return gpus
}

// Whatever is observed and planned: deciding changes nothing, says the same again, does one thing
// to a job, starts only what there is room for, and does nothing to a job whose last write is not
// yet seen.
func TestSteps_property(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var jobs []*jobstate.Job
		for i := range rapid.IntRange(1, 4).Draw(rt, "jobs") {
			jobs = append(jobs, drawJob(rt, fmt.Sprint("job-", i)))
		}
		w, before := planner(jobs...), text(jobs)
		all, notes := w.Steps(eight(), now)
		if diff := cmp.Diff(before, text(jobs)); diff != "" {
			rt.Fatalf("deciding changed the jobs:\n%s", diff)
		}
		again, _ := w.Steps(eight(), now)
		if names(all) != names(again) {
			rt.Errorf("%s, and then %s", names(all), names(again))
		}
		taken, seen := held(jobs), map[*jobstate.Job]bool{}
		for _, s := range all {
			if seen[s.Job] || s.Job.Stale() {
				rt.Errorf("%s is to %s: it has a step, or what was written of it is not seen", s.Job.ID, s.What)
			}
			seen[s.Job] = true
			if s.What == "start" {
				if taken += s.Job.Held.GPUs; taken > 8 {
					rt.Errorf("%s is started: %d GPUs of 8 would be taken", s.Job.ID, taken)
				}
			}
		}
		for _, n := range notes {
			if n.Retried && now.Before(n.Job.NotBefore) {
				rt.Errorf("%s is tried again before its time", n.Job.ID)
			}
		}
	})
}

func names(all []Step) (text string) {
	for _, s := range all {
		text += string(s.Job.ID) + " " + s.What + "; "
	}
	return text
}

// text is all that a Job says, but for its adapter.
func text(jobs []*jobstate.Job) (all []string) {
	for _, e := range jobs {
		all = append(all, fmt.Sprintf("%+v %+v %+v", *e, *e.Parsed, e.Pods))
	}
	return all
}

// A job whose late start by the previous leader matches the plan starts at once: that refuses the late write, as a
// fence does. If it is planned elsewhere or not at all, or another pod is there, it is fenced first.
func TestSteps_of_what_a_leader_before_may_start(t *testing.T) {
	for name, c := range map[string]struct {
		change func(e *jobstate.Job)
		others []*jobstate.Job
		want   string
	}{
		"as planned":     {func(*jobstate.Job) {}, nil, "[a start]"},
		"elsewhere":      {func(e *jobstate.Job) { e.Late = cluster.Placement{{Node: "m", Resources: cluster.Resources{GPUs: 4}}} }, nil, "[a fence]"},
		"not any more":   {func(e *jobstate.Job) { e.Held = jobstate.Grant{Generation: 1} }, nil, "[a fence]"},
		"others leave":   {func(*jobstate.Job) {}, []*jobstate.Job{elastic("b", 8, 0)}, "[a fence b stop]"},
		"others fill it": {func(*jobstate.Job) {}, []*jobstate.Job{elastic("b", 0, 8)}, "[a start]"},
	} {
		e := elastic("a", 0, 4)
		e.Late = e.Held.Placement
		c.change(e)
		var got []string
		for _, s := range steps(planner(append([]*jobstate.Job{e}, c.others...)...)) {
			got = append(got, fmt.Sprint(s.Job.Parsed.UID, " ", s.What))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}
