package eco

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
)

// TestFlavors: 100 jobs that Kueue queues run on GPUs of two types, as Oxgang plans them. Kueue charges each to the flavor of the
// type that it runs on, so that no pod is sent to a node that its flavor excludes.
func TestFlavors(t *testing.T) {
	if os.Getenv("OXGANG_LONG") == "" {
		t.Skip("takes some minutes: OXGANG_LONG=1 go test ./eco -run TestFlavors -v")
	}
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 4}, {Type: "t4", Count: 4}}})
	Start(t, c, Kueue)
	e2e.Prepare(t.Context(), t, c)
	apply(t, c, "flavors.yaml", "")
	e2e.Serve(t, c, e2e.Setup{})
	if err := e2e.Client(t, c.Config).Create(t.Context(), e2e.Queue("research", v1alpha1.Admit, "fifo")); err != nil {
		t.Fatal(err)
	}
	go ends(t.Context(), t, c)
	const jobs = 100
	began := time.Now()
	for i := range jobs {
		shape := [][2]int{{1, 1}, {1, 2}, {1, 4}, {2, 4}, {1, 8}, {2, 8}}[i%6]
		types := []string{"a100,t4", "a100,t4", "a100,t4", "t4", "a100"}[i%5]
		apply(t, c, "flavored.yaml", fmt.Sprint("j", i), "WORKERS", fmt.Sprint(shape[0]), "GPUS", fmt.Sprint(shape[1]), "TYPES", types)
	}
	f := &charged{cluster: c, on: map[string]string{}, nowhere: map[string]string{}}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	if err := rig.Until(ctx, "the end of all jobs", func() error { return f.look(ctx, jobs) }); err != nil {
		t.Error(err)
	}
	count := map[string]int{}
	for _, pair := range f.on {
		count[pair]++
	}
	t.Logf("%d jobs in %v; by type of the node and flavor that was charged: %v; pods unschedulable: %v", jobs, time.Since(began).Round(time.Second), count, f.nowhere)
	if len(f.nowhere) > 0 || count["a100 big"]+count["t4 small"] != len(f.on) || count["a100 big"] == 0 || count["t4 small"] == 0 {
		t.Errorf("%v charged, %d pods unschedulable, want each to the flavor of its type, and none", count, len(f.nowhere))
	}
}

// charged is which flavors jobs were charged to.
type charged struct {
	cluster *rig.Cluster
	on      map[string]string // type of the node and flavor, by name of the job
	nowhere map[string]string // what kube-scheduler said of pods that it found no node for, by name
}

// look notes where pods run, what their jobs are charged to, and which pods found no node. It returns an error until so many jobs
// have ended.
func (f *charged) look(ctx context.Context, jobs int) error {
	all, err := f.cluster.Client().CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	flavors, err := f.flavors(ctx)
	if err != nil {
		return err
	}
	for i := range all.Items {
		p := &all.Items[i]
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable {
				f.nowhere[p.Name] = c.Message
			}
		}
		if name := p.Labels["job-name"]; p.Spec.NodeName != "" && flavors[name] != "" {
			kind, _, _ := strings.Cut(p.Spec.NodeName, "-")
			f.on[name] = kind + " " + flavors[name]
		}
	}
	said, err := kubectl(ctx, f.cluster, "", "get", "jobs", "-o", `jsonpath={range .items[*]}{.status.completionTime}{"\n"}{end}`)
	if err == nil && len(strings.Fields(said)) < jobs {
		err = fmt.Errorf("%d of %d jobs have ended", len(strings.Fields(said)), jobs)
	}
	return err
}

// flavors returns the flavor whose GPUs each job is charged for, by name of the job.
func (f *charged) flavors(ctx context.Context) (map[string]string, error) {
	text, err := kubectl(ctx, f.cluster, "", "get", "workloads", "-o", "json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			Metadata metav1.ObjectMeta
			Status   struct {
				Admission struct {
					PodSetAssignments []struct{ Flavors map[string]string }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, w := range list.Items {
		if a := w.Status.Admission.PodSetAssignments; len(a) > 0 && len(w.Metadata.OwnerReferences) > 0 {
			all[w.Metadata.OwnerReferences[0].Name] = a[0].Flavors["nvidia.com/gpu"]
		}
	}
	return all, nil
}
