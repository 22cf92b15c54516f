package kube

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
)

// served returns what runs a scheduler that rents with a backend, while the backend executes and the
// twin and its provider act, until all jobs have ended.
func (t *tenant) served(jobs int, obs ...scheduler.Observer) func(context.Context, scheduler.Backend) error {
	return func(ctx context.Context, b scheduler.Backend) error {
		var gone sync.WaitGroup
		ctx, cancel := context.WithTimeout(ctx, time.Hour)
		defer gone.Wait()
		defer cancel()
		gone.Go(func() { _ = t.w.Execute(ctx) })
		gone.Go(func() { t.acts(ctx, jobs) })
		sched, err := renter(t.w)
		if err != nil {
			return err
		}
		return sched.Run(ctx, b, append([]scheduler.Observer{t.w}, obs...)...)
	}
}

// A tight policy is another one that rents as many nodes as all its jobs together would fill,
// and gives back the others.
type tight struct{ policy.Policy }

// Plan implements policy.Policy.
func (p tight) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	plan, err := p.Policy.Plan(ctx, s)
	if err != nil {
		return nil, err
	}
	gpus := 0
	for _, j := range s.Jobs {
		gpus += j.GPUs
	}
	r := &s.Rentals[0]
	per := r.Node.Capacity.GPUs
	plan.Capacity = map[cluster.Group]int{r.Group: min(r.Most, (gpus+per-1)/per)}
	return plan, nil
}

// renter returns the scheduler of a backend, with a policy that rents, and a round a minute.
func renter(w *Backend) (*scheduler.Scheduler, error) {
	p, placer, err := decides("fifo")
	if err != nil {
		return nil, err
	}
	o := scheduler.DefaultOptions()
	o.Profile = false
	return scheduler.New(tight{p}, placer, w.Cluster(), o)
}

// acts submits jobs, some minutes after one another, and lets the twin work once in five
// seconds and the provider once in 45; it drains the backend in the end.
func (t *tenant) acts(ctx context.Context, jobs int) {
	submitted := 0
	for i := 1; ctx.Err() == nil; i++ {
		time.Sleep(5 * time.Second)
		synctest.Wait()
		t.twin.Settle()
		t.twin.Work()
		if i%9 == 0 {
			t.twin.Provide()
			t.w.News()
		}
		if i%20 == 0 && submitted < jobs {
			submitted++
			t.twin.Submit(queue, &kubetest.Ask{Name: fmt.Sprintf("job-%d", submitted), Workers: 1 + submitted%2, GPUs: 2, Looks: 50})
		}
		if submitted == jobs && len(t.twin.PoolNodes("pool")) == 0 && t.ended(jobs) {
			t.w.Drain()
		}
	}
}

func (t *tenant) ended(jobs int) bool {
	for i := range jobs {
		if !t.twin.Ended(fmt.Sprintf("job-%d", i+1)) {
			return false
		}
	}
	return true
}

// The backend keeps the rules of a scheduler.Expander while jobs come and go.
func TestBackend_rents(t *testing.T) {
	renting(t, "", func(t *tenant) {
		if err := schedulertest.Renting(t.Context(), t.w, t.w.Cluster(), t.served(3)); err != nil {
			t.Error(err)
		}
		if err := t.twin.Wrong(); err != nil {
			t.Error(err)
		}
	})
	renting(t, "what cannot be rented is named", func(t *tenant) {
		if err := schedulertest.Unrentable(t.Context(), t.w, t.w.Cluster()); err != nil {
			t.Error(err)
		}
	})
}

// The twin finds what a provider must not do, and the scheduler's side if it lets it.
func TestBackend_rents_and_the_twin_sees(t *testing.T) {
	renting(t, "a node that is taken from under a job", func(t *tenant) {
		t.rents(1)
		t.runs("a", "pool-1")
		t.twin.Scale("pool", 0)
		t.twin.Provide()
		if err := t.twin.Wrong(); err == nil {
			t.Error("want a complaint")
		}
	})
}
