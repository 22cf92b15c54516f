package fault

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// stage is a namespace in which program runs, and an auditor of all that is written.
type stage struct {
	client    *kubernetes.Clientset
	namespace string
	env       string
	watcher   *audit.Watcher
	told      int // findings that were told
}

func newStage(t *testing.T, env string) *stage {
	t.Helper()
	c := cluster(t)
	s := &stage{client: clientFor(t, c.Config), namespace: namespace(t), env: env}
	s.watcher = audit.Follow(c.Etcd(t), audit.New(&once{namespace: s.namespace}))
	t.Cleanup(func() {
		if _, err := s.watcher.Stop(context.Background()); err != nil { // the test's is over
			t.Error(err)
		}
	})
	return s
}

// once is a check: of each step there is at most one ConfigMap, at every revision.
type once struct {
	namespace string
	names     map[string]map[string]bool // by step
}

func (*once) Name() string { return "one per step" }

func (k *once) See(_ *audit.State, c *audit.Change) []audit.Finding {
	if c.Key.Resource != "configmaps" || c.Key.Namespace != k.namespace {
		return nil
	}
	if k.names == nil {
		k.names = map[string]map[string]bool{}
	}
	if c.New == nil {
		delete(k.names[c.Old.Meta.GetLabels()["step"]], c.Key.Name)
		return nil
	}
	step := c.New.Meta.GetLabels()["step"]
	if k.names[step] == nil {
		k.names[step] = map[string]bool{}
	}
	k.names[step][c.Key.Name] = true
	if n := len(k.names[step]); n > 1 && c.Old == nil {
		return []audit.Finding{{Check: k.Name(), Revision: c.Revision, Object: c.Key, Message: fmt.Sprintf("%d of %s, want 1", n, step)}}
	}
	return nil
}

func (s *stage) scenario(t *testing.T) *Scenario {
	return &Scenario{
		Config: cluster(t).Config, Prepare: s.clear, Start: s.start, Within: 20 * time.Second,
		Acts: []Act{
			{Name: "the first three", Settled: func(t testing.TB) bool { return len(s.steps(t, "done")) >= 3 }},
			{Name: "the others", Settled: func(t testing.TB) bool { return len(s.steps(t, "done")) >= 5 }},
		},
		Final: func(t testing.TB) string { return strings.Join(s.steps(t, "step"), " ") },
		Audit: s.audit,
	}
}

// clear removes what the run before left.
func (s *stage) clear(t testing.TB) {
	err := s.client.CoreV1().ConfigMaps(s.namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// start starts this test's binary as program.
func (s *stage) start(t testing.TB, p *Proxy) (kill func()) {
	kubeconfig, err := shared.WriteKubeconfig("program", p.Config())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FAULT_TEST_PROGRAM="+s.env, "FAULT_TEST_NAMESPACE="+s.namespace, "KUBECONFIG="+kubeconfig)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // says that it was killed
	}
}

// steps returns the values of a label of what there is.
func (s *stage) steps(t testing.TB, label string) (names []string) {
	list, err := s.client.CoreV1().ConfigMaps(s.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: label})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		names = append(names, list.Items[i].Labels[label])
	}
	return names
}

// audit returns the findings that were not told yet.
func (s *stage) audit(t testing.TB) (fresh []audit.Finding) {
	if _, err := s.watcher.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.watcher.Look(func(a *audit.Auditor) {
		fresh = a.Findings[s.told:]
		s.told = len(a.Findings)
	})
	return fresh
}

func TestEnumerate(t *testing.T) {
	s := newStage(t, "right")
	all := Enumerate(t, s.scenario(t))
	t.Log("\n" + Report(all))
	if len(all) != 1+5*3 {
		t.Errorf("%d runs, want 16: one, and one for each of 5 steps and 3 moments", len(all))
	}
	for _, o := range all[1:] {
		if !o.Reached {
			t.Errorf("%s was not reached at %s", &o.Call, o.Moment)
		}
	}
	for _, o := range Complaints(all) {
		t.Errorf("%s, killed %s: %s", &o.Call, o.Moment, o.Complain)
	}
}

// The bug shows exactly where the program is killed between a create and its mark.
func TestEnumerateFindsADoubledCreate(t *testing.T) {
	s := newStage(t, "doubled")
	all := Enumerate(t, s.scenario(t))
	t.Log("\n" + Report(all))
	for _, o := range all[1:] {
		between := o.Call.Verb == "create" && o.Moment != Before || o.Call.Verb == "update" && o.Moment == Before
		if bad := o.Complain != ""; bad != between {
			t.Errorf("%s, killed %s: complaint %q, want one: %t", &o.Call, o.Moment, o.Complain, between)
		}
		if between && len(o.Findings) != 1 {
			t.Errorf("%s, killed %s: the auditor found %v, want one doubled step", &o.Call, o.Moment, o.Findings)
		}
	}
}

// Each of the four ways in which a run can go wrong is named, and nothing else is.
func TestJudge(t *testing.T) {
	r := &runner{s: &Scenario{Within: time.Second}, reference: "a b"}
	good := Outcome{Settled: true, Reached: true, Took: time.Second, Final: "a b"}
	never, late, wrong, found := good, good, good, good
	never.Settled, late.Took = false, 2*time.Second
	wrong.Final, found.Findings = "a", []audit.Finding{{Check: "I1", Message: "bad"}}
	for want, o := range map[string]Outcome{
		"": good, "not settled within 6s": never, "settled after 2s, want at most 1s": late,
		`left "a", want "a b"`: wrong, "1 findings, the first: I1": found,
	} {
		if got := r.judge(o).Complain; !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("complaint %q, want %q", got, want)
		}
	}
}

// A program that does nothing is not settled, and nothing is enumerated.
func TestEnumerateWithoutAnEnd(t *testing.T) {
	s := newStage(t, "right").scenario(t)
	s.Start = func(testing.TB, *Proxy) func() { return func() {} }
	s.Within = 20 * time.Millisecond
	all := Enumerate(t, s)
	if len(all) != 1 || all[0].Complain != "not settled without a kill" {
		t.Errorf("outcomes %+v, want one that did not settle", all)
	}
}
