package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// TestGangs: with the gates of workload-aware scheduling on, the Job controller makes a PodGroup for each Job,
// and gates, pins, starts and resizes work as without.
func TestGangs(t *testing.T) {
	t.Run("the short scenes", func(t *testing.T) { shortScenes(t, rig.Options{Gangs: true}) })
	t.Run("jobs of another size than they ask for", elasticGangs)
}

// elasticGangs: a job starts with more workers than it asks for, and loses some while it runs. Its gang would be of
// as many as it asks for, and the API server refuses to change the size of that.
func elasticGangs(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	ctx := t.Context()
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 2}}, Gangs: true})
	if err := c.Install(ctx, Root+"/deploy/dist/install.yaml", Root+"/deploy/dist/rights/resize.yaml"); err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, Cluster: c, k: Client(t, c.Config)}
	Serve(t, c, Setup{Config: c.AsServiceAccount("oxgang-system", "oxgang"), Elects: true, LeaseNamespace: "oxgang-system"})
	b.create(Queue("train", v1alpha1.Resize, "afs"))
	gang := Job("gang", "train", 4, 4, map[string]string{v1alpha1.RunSeconds: "1000"})
	gang.Spec.Suspend = nil
	b.awaitRules(gang)
	b.runs("gang", 4)
	b.groups(1)
	b.bound("gang", 4)
	finish(t, c, b.k, "gang")
	elastic := Job("elastic", "train", 2, 4, map[string]string{
		v1alpha1.RunSeconds: "1000000", v1alpha1.MinGPUs: "4", v1alpha1.MaxGPUs: "16", v1alpha1.ResizeBy: string(v1alpha1.InPlace),
	})
	b.create(elastic)
	b.runs("elastic", 4)
	b.create(Job("one", "train", 1, 8, map[string]string{v1alpha1.RunSeconds: "1000"}))
	b.runs("one", 1)
	b.runs("elastic", 2)
}

// groups waits until there are so many PodGroups, when those of jobs before are gone; there are none if the gates are not on.
func (b *bench) groups(want int) {
	b.Helper()
	Until(b.Context(), b, within, "there are as many PodGroups as jobs", func() error {
		var all schedulingv1alpha2.PodGroupList
		if err := b.k.List(b.Context(), &all, client.InNamespace("default")); err != nil || len(all.Items) != want {
			return errNot("%d PodGroups, %v, want %d", len(all.Items), err, want)
		}
		return nil
	})
}

// bound fails the test unless so many pods of a job are bound as pods of one PodGroup, of which kube-scheduler says that it is
// scheduled.
func (b *bench) bound(job string, want int) {
	b.Helper()
	var pods corev1.PodList
	if err := b.k.List(b.Context(), &pods, client.InNamespace("default"), client.MatchingLabels{"job-name": job}); err != nil {
		b.Fatal(err)
	}
	in := map[string]int{}
	for i := range pods.Items {
		if g := pods.Items[i].Spec.SchedulingGroup; g != nil && g.PodGroupName != nil && pods.Items[i].Spec.NodeName != "" {
			in[*g.PodGroupName]++
		}
	}
	if len(in) != 1 {
		b.Fatalf("pods of PodGroups %v, want all of one", in)
	}
	for name, n := range in {
		Until(b.Context(), b, within, "the PodGroup is scheduled", func() error {
			var g schedulingv1alpha2.PodGroup
			if err := b.k.Get(b.Context(), client.ObjectKey{Namespace: "default", Name: name}, &g); err != nil {
				return err
			}
			b.Logf("%d pods are bound as of PodGroup %s, policy %+v, conditions %+v", n, name, g.Spec.SchedulingPolicy, g.Status.Conditions)
			if n != want || !meta.IsStatusConditionTrue(g.Status.Conditions, schedulingv1alpha2.PodGroupScheduled) {
				return errNot("%d pods, want %d, and that it is scheduled", n, want)
			}
			return nil
		})
	}
}
