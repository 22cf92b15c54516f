package eco

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
)

// patience bounds each wait: the machine may be busy.
const patience = time.Minute

// A served is a cluster whose queue train is served by oxgang-scheduler, with the rights and under the rules of the chart, and
// watched by an auditor.
type served struct {
	*testing.T
	*rig.Cluster
	k       client.Client
	auditor *audit.Watcher
}

// serve starts a cluster of so many nodes of 8 GPUs, managers, and a scheduler of a queue. elastic says that JobSet's gate is on.
func serve(t *testing.T, nodes int, policy string, elastic bool, managers ...Manager) *served {
	t.Helper()
	if testing.Short() {
		t.Skip("the managers take long to start")
	}
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: nodes}}, History: true})
	Start(t, c, managers...)
	if err := c.Install(t.Context(), e2e.Root+"/deploy/dist/install.yaml", e2e.Root+"/deploy/dist/rights/resize.yaml"); err != nil {
		t.Fatal(err)
	}
	s := &served{t, c, e2e.Client(t, c.Config), audit.Follow(c.Etcd(t), audit.New(audit.All(patience, time.Minute)...))}
	s.create(&v1alpha1.ClusterPolicy{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: v1alpha1.ClusterPolicySpec{ElasticJobSets: elastic}})
	s.create(e2e.Queue("train", v1alpha1.Resize, policy))
	e2e.Serve(t, c, e2e.Setup{Config: c.AsServiceAccount("oxgang-system", "oxgang"), Elects: true, LeaseNamespace: "oxgang-system"})
	return s
}

// create makes an object, as soon as the API server knows the kinds that the chart's rules speak of.
func (s *served) create(o client.Object) {
	s.Helper()
	e2e.Until(s.Context(), s, patience, "the API server takes "+o.GetName(), func() error { return s.k.Create(s.Context(), o) })
}

// runs waits until so many pods of a job with GPUs run, all of one start, as many as the plan has, and returns how long that took.
func (s *served) runs(name string, want, gpus int) time.Duration {
	s.Helper()
	return e2e.Until(s.Context(), s, patience, fmt.Sprintf("%d workers of %s run, as planned", want, name), func() error {
		planned, err := s.planned(name)
		if err != nil {
			return err
		}
		all, err := s.workers(name)
		if err != nil {
			return err
		}
		running, generations := 0, map[string]bool{}
		for i := range all {
			generations[all[i].Labels[v1alpha1.Generation]] = true
			if all[i].Status.Phase == corev1.PodRunning && all[i].DeletionTimestamp == nil {
				running++
			}
		}
		if running != want || planned.GPUs != int32(want*gpus) || len(generations) > 1 {
			return fmt.Errorf("%d run, of starts %v, and %d GPUs are planned (%s: %s), want %d workers of %d", running, generations, planned.GPUs, planned.Reason, planned.Message, want, gpus)
		}
		return nil
	})
}

func (s *served) workers(name string) ([]corev1.Pod, error) {
	all, err := jobPods(s.Context(), s.Cluster, name)
	return slices.DeleteFunc(all, func(p corev1.Pod) bool {
		q := p.Spec.Containers[0].Resources.Limits[rig.GPU]
		return q.IsZero()
	}), err
}

func (s *served) planned(name string) (v1alpha1.JobAllocation, error) {
	var p v1alpha1.Plan
	if err := s.k.Get(s.Context(), client.ObjectKey{Name: "train"}, &p); err != nil {
		return v1alpha1.JobAllocation{}, err
	}
	for _, a := range p.Spec.Allocations {
		if a.Name == name {
			return a, nil
		}
	}
	return v1alpha1.JobAllocation{}, fmt.Errorf("%s is not in the plan", name)
}

// says waits until the condition of a job has a reason and a part of a message.
func (s *served) says(object, reason, part string) {
	s.Helper()
	const path = `.status.conditions[?(@.type=="` + v1alpha1.ScheduledCondition + `")]`
	e2e.Until(s.Context(), s, patience, object+" says "+reason, func() error {
		got, err := get(s.Context(), s.Cluster, object, path+".reason")
		if err != nil {
			return err
		}
		text, err := get(s.Context(), s.Cluster, object, path+".message")
		if err == nil && (got != reason || !strings.Contains(text, part)) {
			err = fmt.Errorf("%s: %s, want %s: %s", got, text, reason, part)
		}
		return err
	})
}

func (s *served) remove(object string) {
	s.Helper()
	if _, err := kubectl(s.Context(), s.Cluster, "", "delete", object, "--wait=false"); err != nil {
		s.Fatal(err)
	}
}

// sound ends the audit, which is to have found nothing at any revision.
func (s *served) sound() {
	s.Helper()
	found, err := s.auditor.Stop(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	for _, f := range found {
		s.Error(f)
	}
}
