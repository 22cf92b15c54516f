package kube

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

func TestOpen(t *testing.T) {
	bubble(t, "each leader has the next epoch", func(t *testing.T) {
		twin := newTwin()
		for epoch := range int64(3) {
			open(t, twin, options(v1alpha1.Resize))
			if got := twin.Plan(queue).Spec.Epoch; got != epoch+1 {
				t.Errorf("epoch %d, want %d", got, epoch+1)
			}
		}
	})
	bubble(t, "it waits for late watches", func(t *testing.T) {
		twin := newTwin()
		w := open(t, twin, options(v1alpha1.Resize))
		twin.Hold()
		pass(t, w, twin) // what is shown from now on is what there is now
		twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 1, GPUs: 1})
		go func() {
			time.Sleep(5 * time.Second)
			twin.Release()
		}()
		begun := time.Now()
		w = open(t, twin, options(v1alpha1.Resize))
		if took := time.Since(begun); took < 5*time.Second || len(w.table.Order) != 1 {
			t.Errorf("open after %v with %d jobs, want it to wait 5s for the one that is there", took, len(w.table.Order))
		}
	})
	bubble(t, "it does not wait for what is gone before watches show it", func(t *testing.T) {
		twin := newTwin()
		w := open(t, twin, options(v1alpha1.Resize))
		twin.Hold()
		pass(t, w, twin)
		twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 1, GPUs: 1})
		go func() {
			time.Sleep(5 * time.Second)
			twin.Delete("a")
			twin.Release()
		}()
		w = open(t, twin, options(v1alpha1.Resize))
		if len(w.table.Order) != 0 {
			t.Errorf("%d jobs, want none: it was deleted", len(w.table.Order))
		}
	})
}

func TestOpen_restores(t *testing.T) {
	bubble(t, "the history of a job, as the last plan has it", func(t *testing.T) {
		twin := newTwin()
		id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 2}).UID)
		w := open(t, twin, options(v1alpha1.Resize))
		news(t, w)
		submitted := time.Now().Add(-time.Hour)
		row := &policy.Job{Spec: &job.Spec{ID: id}, Status: job.Status{
			Phase: job.Running, Submitted: submitted, FirstStarted: submitted.Add(time.Minute), Since: w.Now(), Service: 3 * time.Minute, GPUService: 12 * time.Minute,
			Restarts: 2, Progress: 7.5, Epoch: 3,
		}}
		w.Follow(time.Minute, rows(row))
		do(t, w, runOn(id, on("n0", 2), on("n1", 2)))
		w = open(t, twin, options(v1alpha1.Resize))
		all := news(t, w)
		r, ok := all[0].(scheduler.Restored)
		if !ok {
			t.Fatalf("%+v, want that it is restored", all[0])
		}
		got, want := r.Status, row.Status
		if got.Phase != job.Restoring || got.Allocation.GPUs != 4 || len(got.Placement) != 2 {
			t.Errorf("restored as %+v, want on 4 GPUs of 2 nodes", got)
		}
		if !got.Submitted.Equal(want.Submitted) || !got.FirstStarted.Equal(want.FirstStarted) || got.Service != want.Service || got.GPUService != want.GPUService ||
			got.Restarts != want.Restarts || got.Progress != want.Progress || got.Epoch != want.Epoch {
			t.Errorf("restored with %+v, want %+v", got, want)
		}
	})
	bubble(t, "a job whose pods are starting, which has its whole time for that", func(t *testing.T) {
		twin := newTwin()
		id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 2}).UID)
		w := open(t, twin, options(v1alpha1.Resize))
		do(t, w, runOn(id, on("n0", 4)))
		looks(t, w, 1)
		twin.Control() // there are pods, and none runs
		w = open(t, twin, options(v1alpha1.Resize))
		if lost := exits(news(t, w)); len(lost) != 0 {
			t.Errorf("%+v, want nothing lost", lost)
		}
		time.Sleep(w.o.Start + time.Second)
		looks(t, w, 1)
		if lost := exits(news(t, w)); len(lost) != 1 || lost[0].Outcome != scheduler.Lost {
			t.Errorf("%+v, want it lost once its time is over", lost)
		}
	})
	bubble(t, "a job that another queue has started is started anew", func(t *testing.T) {
		twin := newTwin()
		id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 1, GPUs: 2}).UID)
		w := open(t, twin, options(v1alpha1.Resize))
		do(t, w, runOn(id, on("n0", 2)))
		pass(t, w, twin)
		p := twin.Plan(queue)
		p.Spec.Allocations, p.Status.Jobs = nil, nil
		twin.Update(p)
		w = open(t, twin, options(v1alpha1.Resize))
		do(t, w, runOn(id, on("n1", 2)))
		pass(t, w, twin)
		pods := twin.PodsOf("a")
		if len(pods) != 1 || pods[0].Spec.NodeName != "n1" || jobstate.Generation(pods[0]) != 2 {
			t.Errorf("pods %+v, want one of generation 2 on n1", pods)
		}
	})
}

// A job whose node went while nobody led has lost its GPUs, as the next leader opens.
func TestOpen_without_a_node(t *testing.T) {
	bubble(t, "lost", func(t *testing.T) {
		twin := newTwin()
		_, a := trained(t, twin)
		twin.RemoveNode("n0")
		w := open(t, twin, options(v1alpha1.Resize))
		if lost := exits(news(t, w)); len(lost) != 1 || lost[0].Job != a || lost[0].Outcome != scheduler.Lost {
			t.Errorf("lost %v, want the job on the node that went", lost)
		}
	})
}

// A Plan that was deleted, or is older than what runs, stops no job: each is taken over as it runs, by what
// it carries, and is in the next plan. The epoch does not fall.
func TestOpen_without_the_plan(t *testing.T) {
	for name, spoil := range map[string]func(*kubetest.Cluster, *v1alpha1.Plan){
		"deleted": func(twin *kubetest.Cluster, p *v1alpha1.Plan) { twin.Remove(p) },
		"older": func(twin *kubetest.Cluster, p *v1alpha1.Plan) {
			for i := range p.Spec.Allocations {
				a := &p.Spec.Allocations[i]
				a.Generation, a.GPUs, a.Nodes = 0, 0, nil
			}
			twin.Update(p)
		},
	} {
		bubble(t, name, func(t *testing.T) {
			twin := newTwin()
			w := open(t, twin, options(v1alpha1.Resize))
			one := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "one", Workers: 2, GPUs: 1}).UID)
			two := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "two", Workers: 2, GPUs: 2}).UID)
			waits := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "waits", Workers: 2, GPUs: 4}).UID)
			pass(t, w, twin)
			do(t, w, runOn(one, on("n0", 2)), runOn(two, on("n0", 2), on("n1", 2)))
			pass(t, w, twin)
			before, epoch := uids(twin, "one")+uids(twin, "two"), twin.Plan(queue).Spec.Epoch
			spoil(twin, twin.Plan(queue))

			w = open(t, twin, options(v1alpha1.Resize))
			pass(t, w, twin)
			do(t, w)
			pass(t, w, twin)
			if after := uids(twin, "one") + uids(twin, "two"); after != before || before == "[][]" {
				t.Errorf("pods %s, want those that ran: %s", after, before)
			}
			got := map[job.ID]int32{}
			p := twin.Plan(queue)
			for i := range p.Spec.Allocations {
				got[job.ID(p.Spec.Allocations[i].UID)] = p.Spec.Allocations[i].GPUs
			}
			if p.Spec.Epoch != epoch+1 || got[one] != 2 || got[two] != 4 || got[waits] != 0 || len(got) != 3 {
				t.Errorf("epoch %d after %d, GPUs %v, want the next epoch and what runs", p.Spec.Epoch, epoch, got)
			}
			if err := twin.Wrong(); err != nil {
				t.Error(err)
			}
		})
	}
}
