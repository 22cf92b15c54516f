package explain

import (
	"fmt"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// waiting returns a state of jobs that wait for reasons: a, b, c and so on.
func waiting(all ...policy.Reason) *clusterState {
	w := &clusterState{jobs: map[job.ID]*row{}}
	for i, why := range all {
		id := job.ID(rune('a' + i))
		w.jobs[id] = &row{spec: &job.Spec{ID: id}, why: why, ruled: true}
	}
	return w
}

func queued(place float64) policy.Reason { return policy.Reason{Kind: policy.WaitOrder, Value: place} }

func offer(value float64, on cluster.GPUType) policy.Reason {
	return policy.Reason{Kind: policy.WaitPrice, Value: value, Config: cluster.Configuration{GPUType: on}}
}

// TestAhead: those ahead are named in their order, unless two share a place, or nobody is at one.
func TestAhead(t *testing.T) {
	head := policy.Reason{Kind: policy.WaitNoCapacity}
	for name, c := range map[string]struct {
		w    *clusterState
		of   float64
		want string
	}{
		"two ahead":              {waiting(queued(2), queued(1), head), 2, "[c b]"},
		"the first":              {waiting(head, queued(1)), 0, "[]"},
		"two share a place":      {waiting(head, queued(1), queued(1), queued(2), queued(3)), 3, "[]"},
		"before a shared place":  {waiting(head, queued(1), queued(1)), 1, "[a]"},
		"a place is empty":       {waiting(head, queued(2), queued(3)), 3, "[]"},
		"before an empty place":  {waiting(head, queued(1), queued(3)), 2, "[a b]"},
		"two lack GPUs":          {waiting(head, head, queued(1)), 1, "[]"},
		"nobody is at the first": {waiting(queued(1), queued(2)), 2, "[]"},
	} {
		if got := fmt.Sprint(c.w.order().ahead(queued(c.of))); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestRivals: those that offer more for the same type, the highest offer first; not those that offer as much.
func TestRivals(t *testing.T) {
	w := waiting(offer(1, "t4"), offer(3, "t4"), offer(2, "t4"), offer(9, "a100"), offer(1+1e-12, "t4"))
	if got := w.order().rivals(offer(1, "t4")); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("got %v, want b and c", got)
	}
	if got := w.order().rivals(offer(1, "rtx")); got != nil {
		t.Errorf("got %v, want nobody", got)
	}
}
