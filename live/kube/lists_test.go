package kube

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
)

// Pods of others that neither ask for devices nor are on nodes with GPUs cost a look nothing.
func TestObserve_looks_at_pods_that_matter(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, id := one(t, twin, v1alpha1.Resize)
		for i := range 60 {
			p := pod(fmt.Sprintf("web-%d", i%50), fmt.Sprintf("web-%d", i), "cpu", "1")
			p.ResourceVersion = ""
			twin.Create(&p)
		}
		beside := pod("n0", "beside", "cpu", "4")
		beside.ResourceVersion = ""
		twin.Create(&beside)
		waits := pod("", "waits", "nvidia.com/gpu", "8")
		waits.ResourceVersion = ""
		twin.Create(&waits)
		do(t, w, runOn(id, on("n0", 4)))
		pass(t, w, twin)
		looks(t, w, 1)
		s := w.latest.observation
		if len(s.AllPods) != 4 {
			t.Errorf("%d pods were looked at, want 4: two workers, one beside them, and one that waits for GPUs", len(s.AllPods))
		}
		if got := s.Nodes[0].Capacity.CPUs; got != 60 {
			t.Errorf("node n0 has %g CPUs left, want 60: the pod beside takes 4", got)
		}
	})
}

// However many queues a process serves, one of them at a time compares pods and nodes with the API
// server: twice in six minutes. Each compares its own jobs.
func TestVerify_costs_the_same_for_many_queues(t *testing.T) {
	const queues, periods = 4, 5
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		lists := make(map[string]int)
		var mu sync.Mutex
		turn := new(jobstate.Turn)
		ctx, cancel := context.WithTimeout(t.Context(), periods*(observe.Relist+observe.Late)+time.Second)
		defer cancel()
		var gone sync.WaitGroup
		counts := false // from when all queues are served
		twin.Listed = func(list client.ObjectList, o *client.ListOptions) {
			mu.Lock()
			defer mu.Unlock()
			if !counts {
				return
			}
			lists[list.GetObjectKind().GroupVersionKind().Kind]++
			if o.Limit == 0 {
				t.Errorf("%s were listed without pages", list.GetObjectKind().GroupVersionKind().Kind)
			}
		}
		for i := range queues {
			o := options(v1alpha1.Observe)
			o.Queue.Name, o.Turn = fmt.Sprintf("q%d", i), turn
			w := open(t, twin, o)
			gone.Go(func() { _ = w.Execute(ctx) })
			time.Sleep(20 * time.Second)
		}
		mu.Lock()
		counts = true
		mu.Unlock()
		gone.Wait()
		for kind, want := range map[string]int{"Pod": 2 * periods, "Node": 2 * periods, "Job": 2 * periods * queues} {
			if got := lists[kind]; got > want || got < want-2*queues {
				t.Errorf("%s: %d lists in %d periods, want about %d: %v", kind, got, periods, want, lists)
			}
		}
	})
}
