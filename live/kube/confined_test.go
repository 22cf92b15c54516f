package kube

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
)

// Jobs whose node selector matches only some nodes of a GPU type start there, and only there: no start fails. Under the
// policy oxgang a further job, for which these nodes have no room, keeps no job from the other nodes.
func TestConfined_jobs_get_their_nodes(t *testing.T) {
	for _, policy := range []string{"oxgang", "easy", "multifactor", "kueue", "fifo"} {
		bubble(t, policy, func(t *testing.T) {
			twin := kubetest.New()
			for i := range 4 {
				twin.AddNode(fmt.Sprint("n", i), 8, "A100")
			}
			for _, name := range []string{"n2", "n3"} {
				n := twin.Node(name)
				n.Labels["pool"] = "big"
				twin.Update(n)
			}
			o := options(v1alpha1.Resize)
			o.Queue.Spec.Policy.Name = policy
			submit := func(name string, workers int, pool string) {
				j := twin.Submit(queue, &kubetest.Ask{Name: name, Workers: workers, GPUs: 8, Annotations: map[string]string{v1alpha1.Checkpoints: "true"}})
				if pool != "" {
					j.Spec.Template.Spec.NodeSelector = map[string]string{"pool": pool}
					twin.Update(j)
				}
			}
			submit("free", 1, "")
			s := newStage(t, twin, o, policy)
			defer s.end()
			s.live(30 * time.Second)
			for _, name := range []string{"a", "b", "c"} { // one more than the nodes hold
				submit(name, 1, "big")
			}
			submit("other", 1, "")
			s.live(time.Minute)
			held := make(map[string]bool)
			for range 60 {
				s.live(time.Second)
				for _, name := range []string{"free", "a", "b", "c", "other"} {
					big := name != "free" && name != "other"
					for _, node := range nodesOf(twin, name) {
						held[name] = true
						if big && node != "n2" && node != "n3" {
							t.Fatalf("%s runs on %s, want n2 or n3", name, node)
						}
					}
				}
			}
			if n := len(held); !held["free"] || n < 3 || policy == "oxgang" && !held["other"] {
				t.Errorf("these jobs ran: %v, want all, or without one of a, b and c", held)
			}
			for _, e := range s.backend.table.Order {
				if e.Failures > 0 {
					t.Errorf("%s could not be started %d times: %s", e.Parsed.Name, e.Failures, e.Setback)
				}
			}
		})
	}
}

// nodesOf returns the nodes of a job's pods that run.
func nodesOf(twin *kubetest.Cluster, name string) (all []string) {
	for _, p := range twin.PodsOf(name) {
		if p.Spec.NodeName != "" && !jobstate.Terminal(p) {
			all = append(all, p.Spec.NodeName)
		}
	}
	return all
}
