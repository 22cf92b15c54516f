package explain

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
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

// Jobs of one name are told apart by their IDs, and those whose IDs nobody can read by their names.
func TestCalled(t *testing.T) {
	for spec, want := range map[*job.Spec]string{
		{ID: "mlp-2", Name: "mlp"}:                                            "mlp-2",
		{ID: "1234", Name: "4d1f0a86-0b0e-4c53-9f67-1c2b3d4e5f60"}:            "1234",
		{ID: "4d1f0a86-0b0e-4c53-9f67-1c2b3d4e5f60", Name: "vision/resnet"}:   "vision/resnet",
		{ID: "4d1f0a86-0b0e-4c53-9f67-1c2b3d4e5f60"}:                          "4d1f0a86-0b0e-4c53-9f67-1c2b3d4e5f60",
		{ID: "x-4d1f0a86-0b0e-4c53-9f67-1c2b3d4e5f60", Name: "not so random"}: "x-4d1f0a86-0b0e-4c53-9f67-1c2b3d4e5f60",
	} {
		if got := Called(spec); got != want {
			t.Errorf("%s, %s: got %s, want %s", spec.ID, spec.Name, got, want)
		}
	}
}

// How long something has lasted is what is between the two times that stand beside it.
func TestPassed(t *testing.T) {
	from, to := 2*time.Minute+47500*time.Millisecond, 20*time.Minute
	if got, want := passed(from, to), "17m12s"; clock(from) != "0h02m48s" || got != want {
		t.Errorf("since %s: got %s, want %s", clock(from), got, want)
	}
}

// A job that was granted GPUs for which there is no place waits ahead of others, although no reason counts it.
func TestLine_names_whose_GPUs_lie_scattered(t *testing.T) {
	none := policy.Reason{Kind: policy.WaitNoCapacity, Config: config(1, 4, "a100"), Limit: 4}
	given := none
	given.Value = 4
	for want, why := range map[string]policy.Reason{
		"it needs at least 4 a100 GPUs, and the last round could not give it them": given,
		"it needs at least 4 a100 GPUs":                                            none,
		"1 job is ahead of it in the queue (b), and it needs 1 GPU":                {Kind: policy.WaitOrder, Value: 1, Limit: 1},
	} {
		w := waiting(policy.Reason{Kind: policy.Evicted, Config: config(1, 8, "a100")}, given)
		s := explainContext{why: why, view: View{Types: []TypeView{{Type: "a100", GPUs: 8, Free: 8}}}}
		w.order().others(&s)
		want += "; the free GPUs are on too many nodes for a, which comes first"
		if why.Kind == policy.WaitOrder { // a is not among the jobs that the sentence counts
			want = strings.Replace(want, "which comes", "which also comes", 1)
		}
		if got := s.because(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A job that lost one GPU prints one GPU.
func TestShrank_by_one(t *testing.T) {
	s := explainContext{why: policy.Reason{Kind: policy.Shrunk, Value: 1, Limit: 2}, holds: config(1, 1, "a100"), gave: true}
	for lost, want := range map[int]string{2: "the GPU that was", 3: "the GPUs that were"} {
		s.lost.Configuration = config(1, lost, "a100")
		if got := s.because(); got != "other jobs gain more from "+want+" taken from it" {
			t.Errorf("%d: got %q", lost, got)
		}
	}
}
