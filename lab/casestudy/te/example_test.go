package te_test

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/lab/casestudy/te"
	"github.com/oxgang/oxgang/opt/copter"
)

// Two demands share a link of 3; one of them has a way around it.
func Example() {
	t := &te.Topology{Nodes: []string{"a", "b", "c"}, Links: []te.Link{
		{From: 0, To: 1, Capacity: 3}, {From: 0, To: 2, Capacity: 2}, {From: 2, To: 1, Capacity: 5},
	}}
	demands := []te.Demand{{Source: 0, Target: 1, Volume: 9}, {Source: 2, Target: 1, Volume: 4}}
	in := &te.Instance{Topology: t, Demands: demands, Paths: te.EdgeDisjoint(t, demands, 4)}
	s, err := copter.New(copter.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := (&te.Whole{Solver: s}).Allocate(context.Background(), in)
	if err != nil {
		fmt.Println(err)
		return
	}
	in.ScaleBack(a.Flow)
	total := 0.0
	for _, x := range a.Flow {
		total += x
	}
	fmt.Printf("%d paths carry %.2f of %v\n", in.Paths.Len(), total, te.Total(demands))
	// Output: 3 paths carry 8.00 of 13
}
