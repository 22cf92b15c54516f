package whatif

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/scheduler"
)

// A replay predicts in rounds with up to mostLooked jobs, and in no larger one.
func TestReplayed_looks_in_small_rounds(t *testing.T) {
	fresh := func() (policy.Policy, placement.Placer, error) {
		return queue.New(queue.FIFO()), placement.NewBestFit(), nil
	}
	c, err := cluster.New([]cluster.Node{{ID: "a", GPUType: "a100", Capacity: cluster.Resources{GPUs: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for n, want := range map[int]bool{mostLooked: true, mostLooked + 1: false} {
		r := &replayed{ctx: t.Context(), every: 1, ahead: NewPredictor(fresh, scheduler.DefaultOptions(), c.Types())}
		s := &policy.Snapshot{Now: at, Length: time.Minute, Cluster: c}
		for i := range n {
			spec := &job.Spec{ID: job.ID(fmt.Sprint(i)), GPUs: 1, Timed: true, Target: 60}
			r.Event(at, scheduler.Submitted{Spec: spec})
			s.Jobs = append(s.Jobs, &policy.Job{Spec: spec, Limits: &spec.Batch, Status: job.Status{Phase: job.Waiting, Submitted: at, Since: at}})
		}
		p, err := queue.New(queue.FIFO()).Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		r.Round(s, p, nil)
		if looked := r.ahead.tried == s; looked != want {
			t.Errorf("%d jobs: predicted %v, want %v", n, looked, want)
		}
	}
}
