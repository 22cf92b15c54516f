package kube

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/events"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/internal/tree"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/policy"
)

// TestWords: the page lists every word, in the order in which they come; no two reasons have
// one, and each may be the reason of a condition.
func TestWords(t *testing.T) {
	words := Words()
	tree.Check(t, "guide/reasons#On Kubernetes", words)
	text, err := os.ReadFile(filepath.Join(testdata.Root(t), "docs", "guide", "reasons.md"))
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for i, word := range words {
		if slices.Contains(words[:i], word) {
			t.Errorf("%s: two reasons have this word", word)
		}
		if errs := validation.IsCIdentifier(word); len(errs) > 0 {
			t.Errorf("%s: %v", word, errs)
		}
		next := strings.Index(string(text), "\n| `"+word+"` | ")
		if next < at {
			t.Errorf("docs/guide/reasons.md: row `%s` stands before that of %s, want it after that", word, words[i-1])
		}
		at = next
	}
}

// The page says for which reason of a policy a word stands.
func TestWords_stand_for_reasons(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testdata.Root(t), "docs", "guide", "reasons.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range policy.Kinds() {
		if row := "\n| `" + word(k.String()) + "` | " + k.String() + " |"; !strings.Contains(string(text), row) {
			t.Errorf("docs/guide/reasons.md: no row that begins with %q", row[1:])
		}
	}
}

// Of several reasons that hold, the first of the list is said.
func TestVerdict_says_the_first_reason(t *testing.T) {
	const says = "waiting: price too high"
	w := assemble(nil, nil, &jobstate.Options{Queue: &v1alpha1.Queue{}})
	w.o.Queue.Spec.Namespaces, w.o.Queue.Spec.Mode = []v1alpha1.NamespaceShare{{Name: "a"}}, v1alpha1.Resize
	f := &observe.ObservedJob{Object: jobstate.ObjectOf(&unstructured.Unstructured{}), Parsed: &jobadapter.Job{UID: "u", Namespace: "a", Kueue: true, Suspended: true, Problem: "p"}}
	e := &jobstate.Job{Parsed: f.Parsed, Trouble: "stop: no", Retry: jobstate.Retry{NotBefore: time.Now()}}
	w.table.ByID["u"] = e
	a := &v1alpha1.JobAllocation{UID: "u", GPUs: 2, Reason: says}
	want := func(scheduled bool, reason, message string) {
		t.Helper()
		if v := w.publisher.verdict(&observe.Observation{Ours: map[string]bool{"u": true}}, f, a); v.reason != reason || v.message != message || v.scheduled != scheduled {
			t.Errorf("got %s, %q, scheduled %v, want %s, %q, %v", v.reason, v.message, v.scheduled, reason, message, scheduled)
		}
	}
	want(false, Misconfigured, "p")
	f.Parsed.Problem = ""
	want(false, waitingForQuota, "Kueue has not admitted it yet")
	a.GPUs = 0 // Kueue was told to stop it: quota is not what it waits for
	want(false, StepFailed, "stop: no")
	f.Parsed.Kueue, a.GPUs = false, 2
	want(true, StepFailed, "stop: no")
	e.Trouble = ""
	want(true, "PriceTooHigh", "")
	a.Message, a.Unblock = "others gain more", "it would get 1 t4 GPU if job b ended"
	want(true, "PriceTooHigh", "others gain more; it would get 1 t4 GPU if job b ended")
}

// What would help is known some time after the reason: the condition says it then, and no event.
func TestPublish_of_what_would_help(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, a := one(t, twin, v1alpha1.Resize)
		w.o.Explain = func(*policy.Snapshot, *policy.Plan) jobstate.Reasons {
			return said{a: {"waiting: no capacity", "it needs 4 GPUs"}}
		}
		said := events.NewFakeRecorder(10)
		w.o.Events = said
		w.Round(&policy.Snapshot{}, nil, nil)
		do(t, w)
		pass(t, w, twin)
		w.table.Plan.Spec.Allocations[0].Unblock = "it would get 4 GPUs if job b ended"
		pass(t, w, twin)
		if got := message(twin); got != "it needs 4 GPUs; it would get 4 GPUs if job b ended" || len(said.Events) != 1 {
			t.Errorf("got %q and %d events, want what would help, and one event", got, len(said.Events))
		}
	})
}

// What a leader has told people the next one does not tell them again.
func TestPublish_of_another_leader(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, a := one(t, twin, v1alpha1.Resize)
		w.o.Explain = func(*policy.Snapshot, *policy.Plan) jobstate.Reasons {
			return said{a: {"waiting: no capacity", "no node has 4 GPUs"}}
		}
		w.Round(&policy.Snapshot{}, nil, nil)
		do(t, w)
		for _, want := range []int{1, 0} {
			said := events.NewFakeRecorder(10)
			w.o.Events = said
			pass(t, w, twin)
			if got := len(said.Events); got != want || reason(twin) != "NoCapacity" {
				t.Errorf("%d events, reason %q, want %d, and NoCapacity", got, reason(twin), want)
			}
			w = open(t, twin, options(v1alpha1.Resize))
		}
	})
}

// Conditions that are refused are not written again at every look; those that are stale are.
func TestPublish_refused(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		most int // attempts in half a minute of looks, each second
	}{
		{"by an API server that has trouble", apierrors.NewInternalError(errors.New("etcd")), 4},
		{"with a wish to be left alone", apierrors.NewTooManyRequests("slower", 25), 2},
		{"as stale", apierrors.NewConflict(schema.GroupResource{Resource: "jobs"}, "a", errors.New("it was changed")), 30},
	} {
		bubble(t, c.name, func(t *testing.T) {
			twin := newTwin()
			w, _ := one(t, twin, v1alpha1.Recommend)
			do(t, w) // waiting, for a reason that its policy does not give
			n := 0
			twin.Before = func(call *kubetest.Call) error {
				if call.Verb != "status" {
					return nil
				}
				n++
				return c.err
			}
			w.table.Plan.Spec.Allocations = []v1alpha1.JobAllocation{{UID: w.table.Order[0].Parsed.UID, Reason: "waiting: no capacity"}}
			for range 30 {
				looks(t, w, 1)
				time.Sleep(time.Second)
			}
			if n < c.most-1 || n > c.most {
				t.Errorf("%d attempts in 30 s, want about %d", n, c.most)
			}
		})
	}
}

// Words returns every word that conditions and events use, in the order in which they come:
// of those that hold for a job one is said, the first. Those of policies come last, and of
// these a job has one. docs/guide/reasons.md lists them.
func Words() []string {
	all := []string{Misconfigured, notManaged, waitingForQuota, queueFull, Unschedulable, StepFailed, notStarted}
	for _, k := range policy.Kinds() {
		all = append(all, word(k.String()))
	}
	return all
}

// Jobs beyond the quota of their namespace are told so, some at a time; the others are planned.
func TestVerdicts_of_a_full_queue(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		o := options(v1alpha1.Resize)
		o.Queue.Spec.Namespaces[0].MaxJobs = 2
		w := open(t, twin, o)
		for i := range mostFull + 4 {
			twin.Submit(queue, &kubetest.Ask{Name: fmt.Sprintf("job-%02d", i), Workers: 1, GPUs: 1})
		}
		told := func() (n int) {
			for _, j := range twin.Jobs() {
				for _, c := range j.Status.Conditions {
					if string(c.Type) == v1alpha1.ScheduledCondition && c.Reason == queueFull {
						n++
					}
				}
			}
			return n
		}
		looks(t, w, 1)
		if n := told(); n != mostFull {
			t.Errorf("%d jobs were told at once, want %d", n, mostFull)
		}
		looks(t, w, 2)
		if n := told(); n != mostFull+2 || len(w.table.Order) != 2 || w.Room().Full[kubetest.Namespace] != n {
			t.Errorf("%d jobs were told, %d are planned, %v have no room, want all but 2", n, len(w.table.Order), w.Room().Full)
		}
	})
}
