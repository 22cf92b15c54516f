package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/fault"
)

// A leader that was halted during a write for longer than its lease changes nothing when it resumes: the plan was
// rewritten, and admission refuses its epoch for jobs and pods. Without admission it does change them, and the
// auditor reports it.
func TestFence_holds_against_a_leader_that_wakes_up(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	b := newBench(t, rig.Nodes{Type: "a100", Count: 2})
	pod := fault.Match{Verb: "patch", Resource: "pods"}
	t.Run("without admission a pod is let go", func(t *testing.T) { b.sleeper(t, "open", pod, []int{http.StatusOK}) })
	b.installFence()
	for name, s := range map[string]struct {
		write fault.Match
		want  []int
	}{
		"plan": {fault.Match{Verb: "update", Resource: "plans.oxgang.dev"}, []int{http.StatusConflict}},
		"job":  {fault.Match{Verb: "patch", Resource: "jobs.batch"}, []int{http.StatusForbidden, http.StatusConflict}}, // its condition may have been written since
		"pod":  {pod, []int{http.StatusForbidden}},
	} {
		t.Run(name, func(t *testing.T) { b.sleeper(t, name, s.write, s.want) })
	}
}

// newBench returns a cluster whose history is kept, and in which us may do everything.
func newBench(t *testing.T, nodes ...rig.Nodes) *bench {
	c := rig.Start(t, rig.Options{Lean: true, History: true, Nodes: nodes})
	Prepare(t.Context(), t, c)
	b := &bench{T: t, Cluster: c, k: Client(t, c.Config)}
	b.create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "rig-oxgang"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "oxgang-system", Name: "oxgang"}},
	})
	return b
}

// us returns how a scheduler reaches the API server as the user whom admission knows.
func (b *bench) us() *rest.Config { return b.AsServiceAccount("oxgang-system", "oxgang") }

// installFence installs the epoch policy of the chart, as it comes.
func (b *bench) installFence() {
	b.Helper()
	installRules(b.Context(), b, b.Cluster, "oxgang-epoch")
}

// A sleeper is a leader that is halted at a write, and one that leads after it.
type sleeper struct {
	*history
	held  *hold // the write of the first
	later *hold // the first of the second that is of a job or pod
}

// sleeper halts a leader before its first write that matches has reached the API server, lets
// it through when the next leader has its epoch and has changed nothing yet, and wants one
// of the given answers.
func (b *bench) sleeper(t *testing.T, queue string, write fault.Match, want []int) {
	s := &sleeper{history: b.follow(t, queue), held: newHold(write), later: newHold(
		fault.Match{Verb: "patch", Resource: "pods"}, fault.Match{Verb: "patch", Resource: "jobs.batch"})}
	t.Cleanup(func() { s.remove(queue) })
	s.run(want)
}

func (s *sleeper) run(want []int) {
	first, second := s.proxy(s.us()), s.proxy(s.us())
	first.Hook(s.held.ask)
	second.Hook(s.later.ask)
	defer s.held.release()
	defer s.later.release()
	setup := Setup{Elects: true, Lease: "6s 5s 500ms", Name: s.queue + "-first", Config: first.Config()}
	old := Serve(s, s.Cluster, setup)
	s.create(Queue(s.queue, v1alpha1.Resize, "fifo"))
	s.create(Job(s.queue+"-a", s.queue, 1, 8, map[string]string{v1alpha1.ResizeBy: gated}))
	s.wait("the leader writes", s.held.caught)
	was := s.epoch(s.queue)
	if err := old.Stop(); err != nil {
		s.Fatal(err)
	}
	setup.Name, setup.Config = s.queue+"-second", second.Config()
	next := Serve(s, s.Cluster, setup)
	s.fenced(was, want)
	s.held.release()
	first.Idle()
	if code := s.held.code(first); !slices.Contains(want, code) {
		s.Errorf("%s, late: answered %d, want one of %v", s.held.call.String(), code, want)
	}
	if err := old.Cont(); err != nil {
		s.Fatal(err)
	}
	s.wait("it has ended", old.Done())
	s.later.release()
	s.runs(s.queue+"-a", 1)
	s.judge(want)
	if err := next.Kill(); err != nil {
		s.Fatal(err)
	}
}

// judge fails if anything but what is wanted was found.
func (s *sleeper) judge(want []int) {
	found := s.findings()
	late := slices.ContainsFunc(found, func(f audit.Finding) bool { return f.Check == (audit.Fence{}).Name() })
	switch {
	case want[0] == http.StatusOK && !late:
		s.Error("the late write was applied, and not found: this test shows nothing")
	case want[0] != http.StatusOK && len(found) > 0:
		s.Errorf("%d findings:%s", len(found), lines(found))
	}
}

// fenced waits until the next leader has its epoch, and if admission is to refuse older ones,
// until it does.
func (s *sleeper) fenced(was int64, want []int) {
	Until(s.Context(), s, patience, "the next leader has its epoch", func() error {
		if epoch := s.epoch(s.queue); epoch <= was {
			return errNot("epoch %d after %d", epoch, was)
		}
		return nil
	})
	if want[0] == http.StatusForbidden {
		s.refuses(s.queue+"-a", was)
	}
}

func (b *bench) epoch(queue string) int64 {
	b.Helper()
	var p v1alpha1.Plan
	if err := b.k.Get(b.Context(), client.ObjectKey{Name: queue}, &p); err != nil {
		b.Fatal(err)
	}
	return p.Spec.Epoch
}

// refuses waits until admission refuses to have a job written by an epoch that is over.
func (b *bench) refuses(job string, epoch int64) {
	b.Helper()
	as, probe := Client(b, b.us()), client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, v1alpha1.Epoch, epoch))
	Until(b.Context(), b, patience, "admission knows of the next epoch", func() error {
		j := &batchv1.Job{}
		j.Namespace, j.Name = "default", job
		if err := as.Patch(b.Context(), j, probe, client.DryRunAll); !apierrors.IsForbidden(err) {
			return errNot("a write of epoch %d is answered with %v", epoch, err)
		}
		return nil
	})
}

// wait waits for something that happens once.
func (b *bench) wait(what string, so <-chan struct{}) {
	b.Helper()
	select {
	case <-so:
	case <-time.After(patience):
		b.Fatalf("%s: not within %v", what, patience)
	case <-b.Context().Done():
	}
}

// A hold keeps the first call that matches, and those that match after it, from reaching the
// API server until it is released.
type hold struct {
	match  []fault.Match
	caught chan struct{} // closed when there is one
	free   chan struct{} // closed when it may go on

	once, freed sync.Once
	call        fault.Call // set when caught is closed
}

func newHold(m ...fault.Match) *hold {
	return &hold{match: m, caught: make(chan struct{}), free: make(chan struct{})}
}

// ask is a proxy's hook.
func (h *hold) ask(c *fault.Call, m fault.Moment) bool {
	if m != fault.Before || c.Subresource != "" {
		return true
	}
	for _, one := range h.match {
		if one.Verb == c.Verb && one.Resource == c.Resource {
			h.once.Do(func() { h.call = *c; close(h.caught) })
			<-h.free
		}
	}
	return true
}

func (h *hold) release() { h.freed.Do(func() { close(h.free) }) }

// code returns what the call that was held was answered with.
func (h *hold) code(p *fault.Proxy) int { return p.Calls()[h.call.Number-1].Code }
