package explaintest

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A stated change is one as explanations write it, in JSON.
type stated struct {
	Kind     string   `json:"kind"`
	GPUs     int      `json:"gpus"`
	Type     string   `json:"type"`
	Group    string   `json:"group"`
	Jobs     []job.ID `json:"jobs"`
	Rounds   int      `json:"rounds"`
	Priority float64  `json:"priority"`
	text     string   // the clause with it
}

// apply returns a copy of a snapshot with a change for one job made in it; nil if it states none.
func (c *stated) apply(s *policy.Snapshot, id job.ID) *policy.Snapshot {
	then := *s
	switch c.Kind {
	case "no change":
	case "jobs end":
		then.Jobs = nil
		for _, j := range s.Jobs {
			if !slices.Contains(c.Jobs, j.ID) {
				then.Jobs = append(then.Jobs, j)
			}
		}
	case "rounds pass":
		for range c.Rounds {
			then.Round, then.Now = then.Round+1, then.Now.Add(s.Length)
		}
	case "more GPUs":
		then.Cluster = larger(s.Cluster, cluster.GPUType(c.Type), c.GPUs)
	case "rented nodes come":
		c.come(s, &then)
	default:
		return c.submit(s, id)
	}
	return &then
}

// submit returns a copy of a snapshot in which the job was submitted otherwise.
func (c *stated) submit(s *policy.Snapshot, id job.ID) *policy.Snapshot {
	then := *s
	then.Jobs = slices.Clone(s.Jobs)
	for i, j := range then.Jobs {
		if j.ID != id {
			continue
		}
		spec, row := *j.Spec, *j
		row.Spec, then.Jobs[i] = &spec, &row
		switch c.Kind {
		case "fewer GPUs":
			spec.Reservation = cluster.Configuration{}
			spec.MinGPUs = min(c.GPUs, spec.MinGPUs)
			if spec.Adaptivity&job.GPUCount == 0 {
				spec.GPUs = c.GPUs
			}
		case "a higher priority":
			spec.Priority = c.Priority
		case "another GPU type":
			spec.GPUTypes = append(slices.Clone(spec.GPUTypes), cluster.GPUType(c.Type))
		case "checkpoints":
			spec.NoCheckpoint = false
		case "preemptible":
			spec.NonPreemptive = false
		default:
			return nil
		}
	}
	return &then
}

// larger returns a cluster with more GPUs of a type, on nodes like the first that has it.
func larger(c *cluster.Cluster, t cluster.GPUType, gpus int) *cluster.Cluster {
	var nodes []cluster.Node
	var first cluster.Node
	for _, n := range c.Nodes() {
		nodes = append(nodes, n)
		if n.GPUType == t && (first.ID == "" || n.Capacity.GPUs > first.Capacity.GPUs) {
			first = n
		}
	}
	for k := 0; gpus > 0; k++ {
		n, take := first, min(gpus, first.Capacity.GPUs)
		part := float64(take) / float64(first.Capacity.GPUs)
		n.ID = cluster.NodeID(fmt.Sprintf("zz-added-%s-%d", t, k))
		n.Capacity = cluster.Resources{GPUs: take, CPUs: part * first.Capacity.CPUs, Memory: int64(part * float64(first.Capacity.Memory))}
		n.Tenure, n.Group = cluster.Owned, ""
		nodes, gpus = append(nodes, n), gpus-take
	}
	return must(cluster.New(nodes))
}

// come makes the rented nodes of a group arrive.
func (c *stated) come(s, then *policy.Snapshot) {
	nodes := slices.Clone(s.Cluster.Nodes())
	then.Rentals = slices.Clone(s.Rentals)
	for i, r := range s.Rentals {
		if string(r.Group) != c.Group {
			continue
		}
		came := c.GPUs / r.Node.Capacity.GPUs
		for k := range came {
			n := r.Node
			n.ID = cluster.NodeID(fmt.Sprintf("zz-rented-%d", k))
			nodes = append(nodes, n)
		}
		then.Rentals[i].Ready += came
		then.Rentals[i].Starting -= min(came, r.Starting)
	}
	then.Cluster = must(cluster.New(nodes))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// smaller returns changes that ask for clearly less than this one does: by two GPUs or more, of any type, by two rounds or more,
// or by one job.
func (c *stated) smaller(s *policy.Snapshot, id job.ID) []stated {
	var all []stated
	switch c.Kind {
	case "more GPUs":
		for n := 1; n <= c.GPUs-2; n++ {
			for _, t := range s.Cluster.Types() {
				all = append(all, stated{Kind: c.Kind, Type: string(t.Type), GPUs: n})
			}
		}
	case "fewer GPUs":
		for n := least(s.Job(id).Spec) - 1; n >= c.GPUs+2; n-- {
			all = append(all, stated{Kind: c.Kind, GPUs: n})
		}
	case "rounds pass":
		for n := 1; n <= c.Rounds-2; n++ {
			all = append(all, stated{Kind: c.Kind, Rounds: n})
		}
	case "jobs end":
		for i := range c.Jobs {
			if len(c.Jobs) > 1 {
				all = append(all, stated{Kind: c.Kind, Jobs: slices.Delete(slices.Clone(c.Jobs), i, i+1)})
			}
		}
	}
	return all
}

func least(spec *job.Spec) int {
	if !spec.Reservation.IsZero() {
		return spec.Reservation.GPUs
	}
	if spec.Adaptivity&job.GPUCount != 0 {
		return max(1, spec.MinGPUs)
	}
	return max(1, spec.GPUs)
}
