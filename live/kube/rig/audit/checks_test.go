package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// window is how long starts and repairs may take in made-up histories.
const window = 30 * time.Second

// A seeded bug is a history that one check, and no other, must reject; good is how it goes
// without the bug.
var seeded = []struct {
	name, check, says string
	bad, good         func(h *history)
}{
	{
		"a second pod is bound to full GPUs", "I1 capacity", "has 9 nvidia.com/gpu taken, want at most 8",
		func(h *history) { h.put(node("n", 8), pod("a", 8, on("n")), pod("b", 1, on("n"))) },
		func(h *history) {
			h.put(node("n", 8), pod("a", 8, on("n")), pod("a", 8, on("n"), phase(corev1.PodSucceeded)), pod("b", 1, on("n")))
		},
	},
	{
		"memory is given twice", "I1 capacity", "memory taken",
		func(h *history) {
			h.put(node("n", 8), pod("a", 1, on("n"), requests("memory", "40Gi")), pod("b", 1, on("n"), requests("memory", "40Gi")))
		},
		func(h *history) {
			h.put(node("n", 8), pod("a", 1, on("n"), requests("memory", "40Gi")), pod("b", 1, on("n"), requests("memory", "24Gi")))
		},
	},
	{
		"a pod grows on a full node", "I1 capacity", "has 17000 cpu taken, want at most 16000",
		func(h *history) {
			h.put(node("n", 8), pod("a", 1, on("n"), requests("cpu", "9")), pod("b", 1, on("n"), requests("cpu", "7")),
				pod("b", 1, on("n"), requests("cpu", "8")))
		},
		func(h *history) {
			h.put(node("n", 8), pod("a", 1, on("n"), requests("cpu", "9")), pod("b", 1, on("n"), requests("cpu", "7")))
		},
	},
	{
		"a pod is let go towards GPUs that another is on its way to", "I1 pinned", "has 12 nvidia.com/gpu taken",
		func(h *history) { h.put(node("n", 8), pod("a", 6, pin("n")), pod("b", 6, pin("n"))) },
		func(h *history) { h.put(node("n", 8), pod("a", 6, pin("n")), pod("b", 6, pin("n"), held)) },
	},
	{
		"nobody leaves a node that lost a GPU", "I2 repair", "overfull with GPUs",
		func(h *history) { h.put(node("n", 8), pod("a", 8, on("n")), node("n", 7)); h.pass(window + 1) },
		func(h *history) {
			p := pod("a", 8, on("n"))
			h.put(node("n", 8), p, node("n", 7))
			h.pass(window - 2*time.Second)
			h.del(p)
			h.pass(2 * window)
		},
	},
	{
		"a generation starts before the one before is gone", "I4 generations", "generation 2 is live while",
		func(h *history) { h.put(pod("a", 1, of("j", 1)), pod("b", 1, of("j", 2))) },
		func(h *history) {
			h.put(pod("a", 1, of("j", 1)), pod("b", 1, of("j", 2), held), pod("a", 1, of("j", 1), phase(corev1.PodFailed)),
				pod("b", 1, of("j", 2)))
		},
	},
	{
		"half a gang runs", "I4 gang", "has 4 GPUs let go for longer than 30s, want 0 or 8",
		func(h *history) {
			h.put(plan(1, 1, gives("j", 1, 8, "n")), pod("a", 4, of("j", 1)), pod("b", 4, of("j", 1), held))
			h.pass(window + 1)
		},
		func(h *history) {
			h.put(plan(1, 1, gives("j", 1, 8, "n")), pod("a", 4, of("j", 1)), pod("b", 4, of("j", 1), held))
			h.put(pod("b", 4, of("j", 1)))
			h.pass(2 * window)
		},
	},
	{
		"a job that the plan stopped goes on", "I4 gang", "want 0 or 0",
		func(h *history) {
			h.put(plan(1, 1, gives("j", 1, 4, "n")), pod("a", 4, of("j", 1)), plan(1, 2, gives("j", 1, 0, "")))
			h.pass(window + 1)
		},
		func(h *history) {
			p := pod("a", 4, of("j", 1))
			h.put(plan(1, 1, gives("j", 1, 4, "n")), p, plan(1, 2, gives("j", 1, 0, "")))
			h.del(p)
			h.pass(2 * window)
		},
	},
	{
		"a job that may not be stopped is", "I6 non-preemptible", "deleted while jobs/team/j runs",
		func(h *history) {
			h.put(node("n", 8), job("j"), pod("a", 1, of("j", 1), on("n")), pod("a", 1, of("j", 1), on("n"), deleting))
		},
		func(h *history) {
			h.put(node("n", 8), job("j"), pod("a", 1, of("j", 1), on("n")), job("j", batchv1.JobComplete))
			h.put(pod("a", 1, of("j", 1), on("n"), deleting))
		},
	},
	{
		"a job that fails loses the pods that have not", "I6 non-preemptible", "deleted while",
		func(h *history) {
			p := pod("a", 1, of("j", 1), on("n"))
			h.put(node("n", 8), job("j", batchv1.JobSuspended), p)
			h.del(p)
		},
		func(h *history) {
			p := pod("a", 1, of("j", 1), on("n"))
			h.put(node("n", 8), job("j", batchv1.JobFailureTarget), p)
			h.del(p)
		},
	},
	{
		"a pod vanishes without notice", "I6 non-preemptible", "deleted while jobs/team/j runs",
		func(h *history) {
			p := pod("a", 1, of("j", 1), on("n"))
			h.put(node("n", 8), job("j"), p)
			h.del(p)
		},
		func(h *history) {
			p := pod("a", 1, of("j", 1), on("n"))
			h.put(node("n", 8), job("j"), p, node("n", 7)) // a GPU of its node is lost
			h.del(p)
		},
	},
	{
		"an old leader writes its plan over a newer one", "I11 plans", "epoch 1, round 8 after epoch 2, round 7",
		func(h *history) { h.put(plan(2, 7), plan(1, 8)) },
		func(h *history) { h.put(plan(1, 7), plan(2, 7), plan(2, 8)) },
	},
	{
		"a round is counted twice", "I11 plans", "round 6 after",
		func(h *history) { h.put(plan(2, 7), plan(3, 6)) },
		func(h *history) { h.put(plan(2, 7), plan(3, 7)) },
	},
	{
		"a write has an epoch that no plan had", "I17 epochs", "written with epoch 2, want at most 1",
		func(h *history) { h.put(job("j"), plan(1, 1), pod("a", 1, of("j", 1), written(2))) },
		func(h *history) { h.put(job("j"), plan(2, 1), pod("a", 1, of("j", 1), written(2))) },
	},
	{
		"an old leader's write comes late", "I17 fence", "written with epoch 1, want 2",
		func(h *history) { h.put(job("j"), plan(1, 1), plan(2, 1), pod("a", 1, of("j", 1), written(1))) },
		func(h *history) {
			h.put(job("j"), plan(1, 1), pod("a", 1, of("j", 1), written(1)), plan(2, 1))
			h.put(pod("a", 1, of("j", 1), written(1), on("n2"))) // another's write, which kept the annotation
		},
	},
	{
		"an old leader's write comes late, of what it wrote before", "I17 fence", "written with epoch 1, want 2",
		func(h *history) {
			h.put(job("j"), plan(1, 1), pod("a", 1, of("j", 1), written(1), by(scheduler, 1)), plan(2, 1))
			h.put(pod("a", 1, of("j", 1), written(1), by(scheduler, 2)))
		},
		func(h *history) {
			h.put(job("j"), plan(1, 1), pod("a", 1, of("j", 1), written(1), by(scheduler, 1)), plan(2, 1))
			h.put(pod("a", 1, of("j", 1), written(1), by(scheduler, 1), by("kubelet", 2)))
			h.put(pod("a", 1, of("j", 1), written(2), by(scheduler, 3)))
		},
	},
	{
		"a job that has ended is started again", "I15 ends once", `ended as "" after "Complete"`,
		func(h *history) { h.put(job("j", batchv1.JobComplete), job("j")) },
		func(h *history) { h.put(job("j"), job("j", batchv1.JobComplete)) },
	},
	{
		"a job ends twice", "I15 ends once", `ended as "Failed" after "Complete"`,
		func(h *history) { h.put(job("j", batchv1.JobComplete), job("j", batchv1.JobFailed)) },
		func(h *history) { h.put(job("j", batchv1.JobFailed), job("j", batchv1.JobFailed)) },
	},
	{
		"a pod of a job that has ended is bound", "I15 ends once", "want no more pods",
		func(h *history) { h.put(node("n", 8), job("j", batchv1.JobComplete), pod("a", 1, of("j", 1), on("n"))) },
		func(h *history) { h.put(node("n", 8), pod("a", 1, of("j", 1), on("n")), job("j", batchv1.JobComplete)) },
	},
	{
		"a node goes back with a pod on it", "I8 loan", "goes back from queue q with pod team/a on it",
		func(h *history) { h.put(lent("n", "q"), job("j"), pod("a", 8, of("j", 1), on("n")), node("n", 8)) },
		func(h *history) {
			h.put(lent("n", "q"), job("j"), pod("a", 8, of("j", 1), on("n")), pod("b", 8, on("n")), lent("n", "q"))
			h.put(pod("a", 8, of("j", 1), on("n"), phase(corev1.PodFailed)), node("n", 8)) // that of its owner stays
		},
	},
	{
		"a node goes back that a pod is let go towards", "I8 loan", "with pod team/a on it",
		func(h *history) {
			h.put(lent("n", "q"), job("j"), pod("a", 8, of("j", 1), pin("n")), lent("n", "other"))
		},
		func(h *history) { h.put(lent("n", "q"), job("j"), pod("a", 8, of("j", 1), pin("m")), node("n", 8)) },
	},
	{
		"a queue gives GPUs to a namespace that it does not know", "I20 tenancy", "4 GPUs for team/j, want a namespace",
		func(h *history) { h.put(queue("other"), plan(1, 1, gives("j", 1, 4, "n"))) },
		func(h *history) {
			h.put(queue("team"), plan(1, 1, gives("j", 1, 4, "n")))
			h.put(queue("other"), plan(1, 2, gives("j", 1, 4, "n"))) // it keeps what it has
		},
	},
	{
		"more nodes are wanted than there may be", "rent most", "it wants 3 nodes of group spot, want at most 2",
		func(h *history) { h.put(renting(2), wants(3)) },
		func(h *history) { h.put(renting(2), wants(2)) },
	},
	{
		"more nodes come than there may be", "rent most", "there are 2 nodes of group spot, want at most 1",
		func(h *history) { h.put(renting(1), node("own", 8), let("a"), let("b")) },
		func(h *history) {
			h.put(renting(1), node("own", 8), let("a"))
			h.del(let("a"))
			h.put(let("b"))
		},
	},
	{
		"a node is taken from under a job", "rent vacated", "of 2 nodes where 1 are wanted, and pod a is on it",
		func(h *history) {
			h.put(renting(2), wants(1), let("n"), let("m"), pod("a", 1, of("j", 1), on("n")))
			h.del(let("n"))
		},
		func(h *history) {
			h.put(renting(2), wants(1), let("n"), let("m"), pod("a", 1, of("j", 1), on("n")))
			h.del(let("m"))
			h.del(let("n")) // this one its provider takes back
		},
	},
}

func queue(namespace string) *v1alpha1.Queue {
	return &v1alpha1.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: "q", UID: "queue"},
		Spec:       v1alpha1.QueueSpec{Namespaces: []v1alpha1.NamespaceShare{{Name: namespace}}},
	}
}

func TestSeededBugs(t *testing.T) {
	for _, b := range seeded {
		t.Run(b.name, func(t *testing.T) {
			for _, f := range told(t, b.check, b.good) {
				t.Errorf("without the bug: %s", f)
			}
			found := told(t, b.check, b.bad)
			if len(found) != 1 {
				t.Fatalf("%d findings of %q, want 1: %v", len(found), b.check, found)
			}
			if !strings.Contains(found[0].Message, b.says) {
				t.Errorf("finding %q, want %q in it", found[0], b.says)
			}
		})
	}
}

// told returns what a check says of a history.
func told(t *testing.T, check string, history func(h *history)) (found []Finding) {
	h := newHistory(t, All(window, window)...)
	history(h)
	for _, f := range h.a.End(h.at) {
		if f.Check == check {
			found = append(found, f)
		}
	}
	return found
}

// Every check of All has a bug that it catches.
func TestEveryCheckHasABug(t *testing.T) {
	has := map[string]bool{}
	for _, b := range seeded {
		has[b.check] = true
	}
	has["I17 epochs"] = has["I17 epochs"] && olderEpoch(t)
	for _, k := range All(window, window) {
		if !has[k.Name()] {
			t.Errorf("check %q has no seeded bug", k.Name())
		}
	}
}

// olderEpoch says that an older epoch after a newer one is found.
func olderEpoch(t *testing.T) bool {
	return len(told(t, "I17 epochs", func(h *history) {
		h.put(job("j"), plan(2, 1), pod("a", 1, of("j", 1), written(2)), pod("b", 1, of("j", 1), written(1)))
	})) == 1
}

func TestSettled(t *testing.T) {
	good := func(h *history) {
		h.put(node("n", 8), job("j"), plan(1, 1, gives("j", 2, 4, "n")), pod("a", 4, of("j", 2), on("n")))
	}
	tests := []struct {
		name, says string
		bug        func(h *history)
	}{
		{"a gate is left", "has our gate", func(h *history) { h.put(pod("b", 1, of("j", 2), held)) }},
		{"an orphan is left", "an orphan", func(h *history) { h.del(job("j")) }},
		{"a pod of an older start is left", "want it gone", func(h *history) { h.put(pod("b", 1, of("j", 1), on("n"))) }},
		{"a pod is missing", "has GPUs map[], want map[n:4]", func(h *history) { h.del(pod("a", 4)) }},
		{"a pod is elsewhere", "has GPUs map[m:4], want map[n:4]", func(h *history) { h.put(pod("a", 4, of("j", 2), on("m"))) }},
	}
	h := newHistory(t)
	good(h)
	if found := Settled(h.a.State); len(found) > 0 {
		t.Fatalf("a settled state: %v", found)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHistory(t)
			good(h)
			tt.bug(h)
			found := Settled(h.a.State)
			if !strings.Contains(fmt.Sprint(found), tt.says) {
				t.Errorf("found %v, want %q", found, tt.says)
			}
		})
	}
}

func TestOvercommitted(t *testing.T) {
	h := newHistory(t)
	h.put(node("n", 8), node("m", 8), pod("a", 8, on("n")), pod("b", 3, on("n")), pod("c", 7, on("m")), pod("d", 2, pin("m")))
	if got := h.a.State.Overcommitted(GPU); got != 3 {
		t.Errorf("%d GPUs over-committed, want 3: a pinned pod holds nothing yet", got)
	}
}

// by notes who wrote a pod, in a second.
func by(manager string, second int) podOption {
	return func(p *corev1.Pod) {
		at := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC))
		p.ManagedFields = append(p.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, Time: &at})
	}
}

func TestQuiet(t *testing.T) {
	h := newHistory(t)
	h.put(pod("a", 1, by("user", 1)), pod("a", 1, by("user", 1), by("oxgang-scheduler", 2)))
	if found := h.a.Log.Quiet("oxgang-scheduler", 2, h.rev); len(found) > 0 {
		t.Errorf("nothing was written since: %v", found)
	}
	found := h.a.Log.Quiet("oxgang-scheduler", 1, h.rev)
	if len(found) != 1 || !strings.Contains(found[0].Message, "wrote 1 times since revision 1, want 0") {
		t.Errorf("found %v, want one write", found)
	}
	if n := h.a.Log.By("user", 0, h.rev); n != 1 {
		t.Errorf("the user wrote %d times, want 1: another's write keeps its entry", n)
	}
}

func TestSeeRefusesAnOlderRevision(t *testing.T) {
	a := New()
	if err := a.See(3, time.Time{}, Key{pods, "x", "y"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := a.See(2, time.Time{}, Key{pods, "x", "y"}, nil); err == nil {
		t.Error("revision 2 after 3 was taken")
	}
}

func TestParseKey(t *testing.T) {
	tests := map[string]string{
		"/registry/pods/team/a":                            "pods/team/a",
		"/registry/minions/n":                              "nodes/n",
		"/registry/oxgang.dev/plans/q":                     "plans.oxgang.dev/q",
		"/registry/jobset.x-k8s.io/jobsets/team/a":         "jobsets.jobset.x-k8s.io/team/a",
		"/registry/services/specs/default/x":               "services/default/x",
		"/registry/services/endpoints/default/x":           "endpoints/default/x",
		"/registry/ranges/serviceips":                      "",
		"compact_rev_key":                                  "",
		"/registry/apiregistration.k8s.io/apiservices/v1.": "apiservices.apiregistration.k8s.io/v1.",
	}
	for in, want := range tests {
		k, ok := ParseKey(in)
		if ok != (want != "") || ok && k.String() != want {
			t.Errorf("%s: %s, %t; want %q", in, k, ok, want)
		}
	}
}
