package kube

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
)

// A deed is something that happens to a cluster.
type deed struct {
	what string
	n    int // which job, node or fault; or how large
}

// What may happen.
var (
	deeds   = []string{"submit", "submit", "submit", "finish", "fail", "delete", "down", "up", "crash", "refuse", "lose", "wait"}
	ofLoans = append([]string{"serve", "serve", "calm"}, deeds...)
)

// errLost is what a caller hears whose answer was lost.
var errLost = errors.New("read: connection reset by peer")

// A story is a stage to which things happen.
type story struct {
	*stage
	names  []string
	served int // pods that serve inference, so far

	mu     sync.Mutex
	refuse []error // next writes fail so
	lose   int     // answers to next writes are lost
}

// patience is how long jobs may take to end once everything is well: three times as long as a
// step that has failed often waits.
const patience = 30 * time.Minute

// tell runs a story in a bubble: it returns what was wrong, and whether every job ended once
// everything was well again.
func tell(t teller, twin *kubetest.Cluster, policyName string, deeds []deed, bug func(*kubetest.Call)) error {
	s := &story{}
	twin.Before = func(c *kubetest.Call) error {
		if bug != nil {
			bug(c)
		}
		return s.before(c)
	}
	twin.After = s.after
	o := lending(options(v1alpha1.Resize))
	o.Queue.Spec.Loans.GraceSeconds = 20
	s.stage = newStage(t, twin, o, policyName)
	defer s.end()
	for _, d := range deeds {
		s.do(d)
		s.live(3 * time.Second)
	}
	twin.SetReady("n0", true)
	twin.SetReady("n1", true)
	long := patience
	if twin.Stuck {
		long = time.Minute
	}
	owed := s.until(long, s.owed)
	twin.Calm()
	return errors.Join(owed, s.until(long, s.ended), twin.Wrong())
}

// until lives until ok returns nothing, or something is wrong, and returns what ok said last.
func (s *story) until(long time.Duration, ok func() error) error {
	for end := time.Now().Add(long); time.Now().Before(end) && ok() != nil && s.twin.Wrong() == nil; {
		s.live(10 * time.Second)
	}
	return ok()
}

func (s *story) owed() error {
	if lent, waits := s.twin.Lent(); lent > 0 && waits > 0 {
		return fmt.Errorf("%d nodes are on loan, and %d pods of the lender wait", lent, waits)
	}
	return nil
}

// before fails writes as the story has it.
func (s *story) before(c *kubetest.Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.Writes() || len(s.refuse) == 0 {
		return nil
	}
	err := s.refuse[0]
	s.refuse = s.refuse[1:]
	return err
}

// after loses answers as the story has it.
func (s *story) after(c *kubetest.Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.Writes() || s.lose == 0 {
		return nil
	}
	s.lose--
	return errLost
}

// refusals are how the API server may refuse a write.
var refusals = []error{
	apierrors.NewConflict(schema.GroupResource{Resource: "jobs"}, "x", errors.New("it was changed")),
	apierrors.NewTooManyRequests("slower", 1), apierrors.NewInternalError(errors.New("etcd")), errLost,
}

// do lets something happen.
func (s *story) do(d deed) {
	name := ""
	if len(s.names) > 0 {
		name = s.names[d.n%len(s.names)]
	}
	switch node := fmt.Sprintf("n%d", d.n%2); d.what {
	case "submit":
		name = fmt.Sprintf("j%02d", len(s.names))
		s.names = append(s.names, name)
		s.twin.Submit(queue, &kubetest.Ask{Name: name, Workers: 1 + d.n%3, GPUs: 1 + d.n%2, Looks: 1 + d.n})
	case "finish", "fail":
		if name != "" && !s.twin.Ended(name) && !*s.twin.Job(name).Spec.Suspend {
			s.twin.End(name, map[string]batchv1.JobConditionType{"finish": batchv1.JobComplete, "fail": batchv1.JobFailed}[d.what])
		}
	case "delete":
		s.twin.Delete(name)
	case "down", "up":
		s.twin.SetReady(node, d.what == "up")
	case "crash":
		s.crash()
	case "refuse", "lose":
		s.mu.Lock()
		defer s.mu.Unlock()
		if d.what == "lose" {
			s.lose++
		} else {
			s.refuse = append(s.refuse, refusals[d.n%len(refusals)])
		}
	case "wait":
		s.live(time.Duration(d.n) * time.Second)
	case "serve":
		s.served++
		s.twin.Serve(fmt.Sprintf("i%02d", s.served), 1+d.n%4)
	case "calm":
		s.twin.Calm()
	}
}

func (s *story) ended() error {
	var errs []error
	for _, name := range s.names {
		if !s.twin.Ended(name) {
			errs = append(errs, fmt.Errorf("job %s has not ended", name))
		}
	}
	return errors.Join(errs...)
}

// Whatever happens, no node has more GPUs pinned or used than it has, a Plan does not go back,
// and every job ends.
func TestStory(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var all []deed
		for range rapid.IntRange(1, 15).Draw(r, "deeds") {
			all = append(all, deed{rapid.SampledFrom(deeds).Draw(r, "what"), rapid.IntRange(0, 20).Draw(r, "n")})
		}
		name := rapid.SampledFrom([]string{"tiresias", "gandiva", "sia"}).Draw(r, "policy")
		var err error
		synctest.Test(t, func(*testing.T) { err = tell(r, newTwin(), name, all, nil) })
		if err != nil {
			r.Fatal(err)
		}
	})
}

// newSmall returns a twin of which more can be had on loan than there is.
func newSmall() *kubetest.Cluster {
	twin := kubetest.New()
	twin.AddNode("n0", 4, "A100")
	twin.AddNode("n1", 2, "A100") // each job has room on both, without which lyra does not run it
	twin.AddServer("s0", 4, "T4")
	twin.AddServer("s1", 4, "T4")
	return twin
}

// The same of a queue that borrows, and no node goes back from it with a pod of ours on it;
// and in the end the lender has the nodes that it needs.
func TestStory_of_loans(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		all := []deed{{"submit", 17}, {"submit", 20}, {"submit", 20}, {"submit", 20}, {"wait", 15}} // more than there is
		for range rapid.IntRange(1, 15).Draw(r, "deeds") {
			all = append(all, deed{rapid.SampledFrom(ofLoans).Draw(r, "what"), rapid.IntRange(0, 20).Draw(r, "n")})
		}
		var err error
		synctest.Test(t, func(*testing.T) {
			err = tell(r, newSmall(), "lyra", all, nil)
		})
		if err != nil {
			r.Fatal(err)
		}
	})
}

// Each of the things that TestStory checks can go wrong.
func TestStory_seeded_bugs(t *testing.T) {
	busy := []deed{{"submit", 2}, {"submit", 5}, {"wait", 20}, {"submit", 8}, {"wait", 20}}
	for _, c := range []struct {
		name, wrong string
		bug         func(*kubetest.Call)
		stuck       bool
	}{
		{name: "every pod is sent to one node", wrong: "GPUs pinned or used, and it has", bug: func(c *kubetest.Call) {
			if p, ok := c.Object.(*corev1.Pod); ok && p.Spec.Affinity != nil {
				p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0] = "n0"
			}
		}},
		{name: "epochs go back", wrong: "plan train: epoch 0", bug: func(c *kubetest.Call) {
			if p, ok := c.Object.(*v1alpha1.Plan); ok && c.Verb == "update" && p.Spec.Round > 0 {
				p.Spec.Epoch = 0
			}
		}},
		{name: "no job is ever done", wrong: "has not ended", stuck: true},
	} {
		bubble(t, c.name, func(t *testing.T) {
			twin := newTwin()
			twin.Stuck = c.stuck
			if err := tell(t, twin, "tiresias", busy, c.bug); err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%v, want an error with %q", err, c.wrong)
			}
		})
	}
	bubble(t, "and it goes well without them", func(t *testing.T) {
		if err := tell(t, newTwin(), "tiresias", busy, nil); err != nil {
			t.Error(err)
		}
	})
}
