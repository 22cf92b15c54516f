package e2e

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// TestOldest: on the oldest version that the chart takes, whose API server cannot suspend new jobs, Helm installs it; queues
// are observed and plans are shown; a queue that is to start jobs says why it is not served, and its jobs run as without Oxgang.
func TestOldest(t *testing.T) {
	long(t, "the chart installs on 1.32; Observe and Recommend work, and Resize is Unsupported")
	c := rig.Start(t, rig.Options{Oldest: true, Nodes: []rig.Nodes{{Type: "a100", Count: 2}}})
	version, err := c.Client().Discovery().ServerVersion()
	if err != nil || !strings.HasPrefix(version.GitVersion, "v1.32.") {
		t.Fatalf("the API server is %v, %v, want a v1.32", version, err)
	}
	helm(t, c, "install", "--create-namespace", "oxgang", Root+"/deploy/charts/oxgang", "--set", "rbac.mode=Resize")
	b := &bench{T: t, Cluster: c, k: Client(t, c.Config)}
	p := Serve(t, c, Setup{Config: c.AsServiceAccount("oxgang-system", "oxgang"), Elects: true, LeaseNamespace: "oxgang-system"})
	for _, s := range []struct {
		name string
		run  func(*bench, *rig.Process)
	}{
		{"observe writes nothing", observes},
		{"plans are shown", recommends},
		{"what is not supported is said", unsupported},
	} {
		t.Run(s.name, func(t *testing.T) { s.run(&bench{T: t, Cluster: c, k: b.k}, p) })
	}
}

// recommends: the plan has what is planned of a job that somebody else runs, and its condition says so.
func recommends(b *bench, _ *rig.Process) {
	b.create(Queue("show", v1alpha1.Recommend, "fifo"))
	defer b.remove("show")
	j := Job("shown", "show", 2, 4, nil)
	j.Spec.Suspend = nil
	Until(b.Context(), b, 2*within, "the job is accepted", func() error { return b.k.Create(b.Context(), j) })
	b.runs("shown", 2)
	Until(b.Context(), b, within, "the plan has the job, and its condition says so", func() error {
		var plan v1alpha1.Plan
		if err := b.k.Get(b.Context(), client.ObjectKey{Name: "show"}, &plan); err != nil || len(plan.Spec.Allocations) != 1 {
			return errNot("%v, %v", plan.Spec.Allocations, err)
		}
		if err := b.k.Get(b.Context(), client.ObjectKeyFromObject(j), j); err != nil {
			return err
		}
		for _, c := range j.Status.Conditions {
			if c.Type == v1alpha1.ScheduledCondition {
				b.Logf("%s: %s", c.Reason, c.Message)
				return nil
			}
		}
		return errNot("conditions %v", j.Status.Conditions)
	})
}

// unsupported: a queue of mode Resize is not served, and says why; its jobs are not suspended; and the rules that need no
// newer version are kept.
func unsupported(b *bench, _ *rig.Process) {
	q := Queue("train", v1alpha1.Resize, "fifo")
	b.create(q)
	defer b.remove("train")
	Until(b.Context(), b, within, "the queue says why it is not served", func() error {
		if err := b.k.Get(b.Context(), client.ObjectKeyFromObject(q), q); err != nil || len(q.Status.Conditions) == 0 {
			return errNot("%v, %v", q.Status.Conditions, err)
		}
		if c := q.Status.Conditions[0]; c.Reason != "Unsupported" || !strings.Contains(c.Message, "1.36") {
			return errNot("%s: %s", c.Reason, c.Message)
		}
		return nil
	})
	j := Job("runs", "train", 1, 8, nil)
	j.Spec.Suspend = nil
	b.create(j)
	b.runs("runs", 1)
	b.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "edit", Namespace: "kube-public"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "somebody"}},
	})
	somebody := Client(b, b.As("somebody"))
	foreign := Job("foreign", "train", 1, 8, nil)
	foreign.Namespace = "kube-public"
	Until(b.Context(), b, 2*within, "a job of a namespace that the queue does not list is refused", func() error {
		if err := somebody.Create(b.Context(), foreign.DeepCopy(), client.DryRunAll); err == nil || !strings.Contains(err.Error(), "is not for namespace") {
			return errNot("%v", err)
		}
		return nil
	})
}
