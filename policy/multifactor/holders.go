package multifactor

import "github.com/oxgang/oxgang/policy"

// A holder is a job that holds nodes, and what it gives back of each.
type holder struct {
	job *policy.Job
	on  []release
}

// near is among how many holders a row is looked for. What is not found is given back and taken anew, so that the nodes are the
// same whatever it is.
const near = 16

// occupy makes the nodes what jobs leave free. Rows that are the same as in the round before hold the same, so it only gives
// back and takes what differs. Both lists are in the order of the snapshot.
func (r *round) occupy() {
	n := r.nodes
	n.begin(r.Snapshot.Cluster, r.now)
	old, next := n.holders, n.spare[:0]
	for i, j := range r.Snapshot.Jobs {
		if len(r.Plan().Jobs[i].Placement) == 0 {
			continue
		}
		for k := range old[:min(near, len(old))] {
			if old[k].job == j {
				n.dismiss(old[:k])
				next, old = append(next, old[k]), old[k+1:]
				break
			}
		}
		if len(next) == 0 || next[len(next)-1].job != j {
			next = append(next, holder{job: j})
		}
	}
	n.dismiss(old)
	for k := range next {
		if next[k].on == nil {
			next[k].on = n.held(next[k].job)
		}
	}
	n.spare, n.holders = n.holders, next
}

// dismiss gives back what holders held.
func (n *nodes) dismiss(gone []holder) {
	for i := range gone {
		for k := range gone[i].on {
			n.giveBack(&gone[i].on[k])
		}
	}
}

// held takes from the nodes what a job holds, until its time limit is over.
func (n *nodes) held(j *policy.Job) []release {
	until := j.Since.Sub(n.began) + limit(j)
	on := make([]release, 0, len(j.Placement))
	for k := range j.Placement {
		s := &j.Placement[k]
		if i, ok := n.cluster.Index(s.Node); ok {
			on = append(on, n.take(i, s.Resources, until))
		}
	}
	return on
}
