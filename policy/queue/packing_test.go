package queue_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// TestByNode: two nodes of four t4 GPUs, each with two that are held: one node for an hour, the other for two. A job of
// four waits for a node, although four GPUs are free, and the first node is reserved for it. Jobs behind it pass only
// on the other node, or if they end within the hour.
func TestByNode(t *testing.T) {
	held := func(id string, node cluster.NodeID, lasts time.Duration) *policy.Job {
		j := running(timed(job.ID("held-"+id), 2, lasts, "t4"), 1, "t4")
		j.Placement = cluster.Placement{{Node: node, Resources: cluster.Resources{GPUs: 2}}}
		return j
	}
	for name, test := range map[string]struct {
		passes []*policy.Job
		want   []string
	}{
		"short":               {[]*policy.Job{timed("c", 2, 50*time.Minute, "t4")}, []string{"a or b"}},
		"long, on the other":  {[]*policy.Job{timed("c", 2, 5*time.Hour, "t4")}, []string{"b"}},
		"two long, one waits": {[]*policy.Job{timed("c", 2, 5*time.Hour, "t4"), timed("d", 2, 5*time.Hour, "t4")}, []string{"b", ""}},
		"larger than a hole":  {[]*policy.Job{timed("c", 3, time.Minute, "t4")}, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: small(t), Jobs: []*policy.Job{
				held("x", "a", time.Hour), held("y", "b", 2*time.Hour), timed("first", 4, time.Hour, "t4"),
			}}
			s.Jobs = append(s.Jobs, test.passes...)
			o := queue.EASY()
			o.ByNode = true
			plan, err := queue.New(o).Plan(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if d := &plan.Jobs[2]; !d.Allocation.IsZero() {
				t.Errorf("the first starts: %v", d.Allocation)
			}
			var nodes []string
			for i := range test.passes {
				on := ""
				for _, share := range plan.Jobs[3+i].Placement {
					on += string(share.Node)
				}
				if test.want[i] == "a or b" && on != "" {
					on = test.want[i]
				}
				nodes = append(nodes, on)
			}
			if diff := cmp.Diff(test.want, nodes); diff != "" {
				t.Errorf("nodes of the others (-want +got):\n%s", diff)
			}
		})
	}
}
