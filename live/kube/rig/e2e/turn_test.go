package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/fault"
)

// A turn is a cluster on which a play is gone through again and again, each time in a queue of
// its own.
type turn struct {
	*bench
	play    *play
	setup   Setup
	watcher *audit.Watcher
	made    made
	plays   int
	from    int64 // the revision at which the present run began
}

func newTurn(t *testing.T, p *play) *turn {
	c := rig.Start(t, rig.Options{Nodes: p.nodes, History: true})
	Prepare(t.Context(), t, c)
	s := &turn{bench: &bench{T: t, Cluster: c, k: Client(t, c.Config)}, play: p, setup: p.setup, made: made{}}
	s.setup.Metrics = Address(t)
	if s.setup.Names != nil {
		s.setup.Agents = Address(t)
	}
	s.watcher = audit.Follow(c.Etcd(t), audit.New(append(audit.All(time.Minute, time.Minute), s.made)...))
	t.Cleanup(func() {
		if _, err := s.watcher.Stop(context.Background()); err != nil { // the test's is over
			t.Error(err)
		}
	})
	return s
}

// made counts the pods that were ever made, by job and generation. It is a check that finds
// nothing.
type made map[string]int

// Name implements audit.Check.
func (made) Name() string { return "made" }

// See implements audit.Check.
func (m made) See(_ *audit.State, c *audit.Change) []audit.Finding {
	if c.Old != nil {
		return nil
	}
	if p, is := c.New.Value.(*corev1.Pod); is {
		m[start(p)]++
	}
	return nil
}

// start names the start of a job that a pod is of.
func start(p *corev1.Pod) string {
	return fmt.Sprintf("%s generation %s", p.Labels[batchv1.JobNameLabel], p.Labels[v1alpha1.Generation])
}

func (s *turn) queue() string { return fmt.Sprintf("play-%d", s.plays) }

func (s *turn) prepare() {
	if s.plays > 0 {
		s.remove(s.queue())
	}
	s.plays++
	s.free()
	from, err := s.watcher.Sync(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	s.from = from
	s.watcher.Look(func(*audit.Auditor) { clear(s.made) })
}

func (s *turn) start(t testing.TB, p *fault.Proxy) func() {
	setup := s.setup
	setup.Name, setup.Config = s.queue(), p.Config()
	program := Serve(t, s.Cluster, setup)
	return func() {
		if err := program.Kill(); err != nil {
			t.Error(err)
		}
	}
}

// settled reports whether an act is over: the scheduler that lives knows of all jobs and has
// planned, all is as the plan says, and the pods run that are to run.
func (s *turn) settled(a *act) (so bool) {
	if _, err := s.watcher.Sync(s.Context()); err != nil {
		s.Fatal(err)
	}
	live := 0
	s.watcher.Look(func(x *audit.Auditor) {
		running := map[string]int{}
		for pod := range x.State.Pods() {
			if pod.Status.Phase == corev1.PodRunning {
				running[pod.Labels[batchv1.JobNameLabel]]++
			}
		}
		for j := range x.State.Jobs() {
			if ended(j) == "" {
				live++
			}
		}
		so = maps.Equal(running, a.runs) && len(audit.Settled(x.State)) == 0
	})
	return so && s.knows(live) && (a.also == nil || a.also(s))
}

// knows reports whether the scheduler has had a round since it began to serve the queue as it
// is, and knows of so many jobs.
func (s *turn) knows(live int) bool {
	m, err := Scrape(s.Context(), s.setup.Metrics)
	if err != nil {
		return false // it does not run yet
	}
	q := fmt.Sprintf("queue=%q", s.queue())
	return m.Sum("oxgang_rounds_total", q) > 0 && int(m.Sum("oxgang_jobs", q)) == live
}

// final says what users see: what each job runs on, which start of it that is, whether it is
// complete, and how many pods were ever made for each start.
func (s *turn) final() string {
	var all []string
	s.watcher.Look(func(a *audit.Auditor) {
		for pod := range a.State.Pods() {
			all = append(all, fmt.Sprintf("%s pod %s: %s on %s, %d restarts", start(pod), pod.Annotations[batchv1.JobCompletionIndexAnnotation],
				pod.Status.Phase, gpuType(a.State, pod), restarts(pod)))
		}
		for j := range a.State.Jobs() {
			all = append(all, fmt.Sprintf("%s: suspended %v, ended %q", j.Name, *j.Spec.Suspend, ended(j)))
		}
		for start, n := range s.made {
			all = append(all, fmt.Sprintf("%s: %d pods made", start, n))
		}
	})
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// ended returns how a job has; "": it has not.
func ended(j *batchv1.Job) batchv1.JobConditionType {
	for _, c := range j.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return c.Type
		}
	}
	return ""
}

func gpuType(s *audit.State, p *corev1.Pod) string {
	n := s.Get(audit.Key{Resource: "nodes", Name: p.Spec.NodeName})
	if n == nil {
		return "no node"
	}
	return n.Meta.GetLabels()[rig.Product]
}

func restarts(p *corev1.Pod) (n int32) {
	for i := range p.Status.ContainerStatuses {
		n += p.Status.ContainerStatuses[i].RestartCount
	}
	return n
}

// findings returns what was found since the run began.
func (s *turn) findings() (found []audit.Finding) {
	s.watcher.Look(func(a *audit.Auditor) {
		for _, x := range a.Findings {
			if x.Revision > s.from {
				found = append(found, x)
			}
		}
	})
	return found
}
