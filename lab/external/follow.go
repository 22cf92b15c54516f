package external

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

func follow(r *grant.Round, answer *Answer) error {
	place := make(map[job.ID]int, len(r.Snapshot.Jobs))
	for i, j := range r.Snapshot.Jobs {
		place[j.ID] = i
	}
	named := make(map[job.ID]bool, len(answer.Jobs))
	ahead := 0
	for n := range answer.Jobs {
		g := &answer.Jobs[n]
		i, active := place[g.ID]
		switch {
		case !active:
			return fmt.Errorf("answer: jobs[%d]: there is no active job %q", n, g.ID)
		case named[g.ID]:
			return fmt.Errorf("answer: jobs[%d]: job %s is listed twice", n, g.ID)
		case g.GPUs != nil && *g.GPUs < 0:
			return fmt.Errorf("answer: jobs[%d]: %d GPUs, want at least 0", n, *g.GPUs)
		}
		named[g.ID] = true
		if r.Decided(i) {
			continue
		}
		types, err := typesOf(r, i, g)
		if err != nil {
			return fmt.Errorf("answer: jobs[%d]: %w", n, err)
		}
		if !slices.ContainsFunc(types, func(t int) bool { return assign(r, i, t, g.GPUs) }) {
			wait(r, i, ahead)
		}
		ahead++
	}
	for i := range r.Snapshot.Jobs {
		if !r.Decided(i) {
			wait(r, i, ahead)
		}
	}
	return nil
}

func typesOf(r *grant.Round, i int, g *Grant) ([]int, error) {
	j := r.Snapshot.Jobs[i]
	at := func(name string) int {
		return slices.IndexFunc(r.Types, func(t cluster.TypeInfo) bool { return string(t.Type) == name })
	}
	if g.Type != "" {
		t := at(string(g.Type))
		if t < 0 {
			return nil, fmt.Errorf("GPU type %q is not in the cluster", g.Type)
		}
		return []int{t}, nil
	}
	var types []int
	speed := make(map[int]float64)
	for t := range r.Types {
		if least, _, _ := r.Range(i, t); least > 0 {
			types = append(types, t)
			speed[t] = grant.Goodput(j, r.Amount(i, t, least)) / float64(least)
		}
	}
	held := at(string(j.Allocation.GPUType))
	slices.SortStableFunc(types, func(a, b int) int {
		switch {
		case (a == held) != (b == held):
			if a == held {
				return -1
			}
			return 1
		case speed[a] > speed[b]:
			return -1
		case speed[a] < speed[b]:
			return 1
		}
		return 0
	})
	return types, nil
}

func assign(r *grant.Round, i, t int, gpus *int) bool {
	least, most, step := r.Range(i, t)
	if least == 0 {
		return false
	}
	n := grant.Requested(r.Snapshot.Jobs[i])
	if gpus != nil {
		n = *gpus
	} else {
		n = max(n, least)
	}
	if n < least {
		return false
	}
	n = least + (min(n, most)-least)/step*step
	return r.Give(i, t, n)
}

func wait(r *grant.Round, i, ahead int) {
	r.Refuse(i)
	why := &r.Plan().Jobs[i].Why
	if why.Kind == policy.WaitNoCapacity && why.Value >= why.Limit {
		*why = policy.Reason{Kind: policy.WaitOrder, Value: float64(ahead), Limit: why.Limit}
	}
}
