package reclaim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// Back returns the lent nodes that the policy should give back to all owners that ask for nodes, by ascending ID. It
// returns fewer than the owners ask for if non-preemptive jobs run on too many. GPUs that a job can release while it
// trains can be given back without a preemption.
func Back(s *policy.Snapshot, o Options) ([]cluster.NodeID, error) {
	var back []cluster.NodeID
	for i := range s.Loans {
		l := &s.Loans[i]
		if l.Reclaim == 0 {
			continue
		}
		some, err := Of(s, l.Group, l.Reclaim, o)
		if err != nil {
			return nil, err
		}
		back = append(back, some...)
	}
	slices.Sort(back)
	return back, nil
}

// Of chooses nodes of group g to give back to their owner, with as few preemptions as possible. It returns the given
// number of nodes, or fewer if jobs that
// cannot be preempted keep the others. If the search is cut off (Options.MaxSteps), more jobs than necessary may stop.
func Of(s *policy.Snapshot, g cluster.Group, nodes int, o Options) ([]cluster.NodeID, error) {
	servers := serversOf(s, g)
	answer, err := Choose(servers, min(nodes, len(newServerSet(servers).returnable)), o)
	if err != nil {
		return nil, fmt.Errorf("group %s: %w", g, err)
	}
	return answer.Servers, nil
}

func serversOf(s *policy.Snapshot, g cluster.Group) []Server {
	var servers []Server
	at := make(map[cluster.NodeID]int) // place in servers
	for i := range s.Cluster.Nodes() {
		if n := &s.Cluster.Nodes()[i]; n.Tenure != cluster.Owned && n.Group == g {
			at[n.ID] = len(servers)
			servers = append(servers, Server{ID: n.ID})
		}
	}
	for _, j := range s.Jobs {
		flexible := flexibleOf(j)
		for _, share := range j.Placement {
			if k, lent := at[share.Node]; lent && share.GPUs > 0 {
				h := Share{Job: j.ID, GPUs: share.GPUs, Flexible: flexible[share.Node], Pinned: j.NonPreemptive}
				servers[k].Holdings = append(servers[k].Holdings, h)
			}
		}
	}
	return servers
}

func flexibleOf(j *policy.Job) map[cluster.NodeID]bool {
	if !j.Resizes || len(j.Placement) < 2 {
		return nil
	}
	left := slices.Clone(j.Placement)
	slices.SortStableFunc(left, func(a, b cluster.Share) int { return cmp.Compare(b.GPUs, a.GPUs) })
	flexible := make(map[cluster.NodeID]bool)
	for len(left) > 1 && j.CanShrinkTo(left[:len(left)-1]) {
		flexible[left[len(left)-1].Node] = true
		left = left[:len(left)-1]
	}
	return flexible
}
