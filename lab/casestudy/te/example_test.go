package te

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/opt/copter"
)

// Two demands share a link of 3; one of them has a way around it.
func Example() {
	t := &Topology{nodes: []string{"a", "b", "c"}, links: []link{
		{From: 0, To: 1, Capacity: 3}, {From: 0, To: 2, Capacity: 2}, {From: 2, To: 1, Capacity: 5},
	}}
	demands := []Demand{{source: 0, target: 1, volume: 9}, {source: 2, target: 1, volume: 4}}
	in := &Instance{topology: t, demands: demands, paths: edgeDisjoint(t, demands, 4)}
	s, err := copter.New(copter.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := (&whole{Solver: s}).Allocate(context.Background(), in)
	if err != nil {
		fmt.Println(err)
		return
	}
	in.scaleBack(a.flow)
	total := 0.0
	for _, x := range a.flow {
		total += x
	}
	fmt.Printf("%d paths carry %.2f of %v\n", in.paths.Len(), total, Total(demands))
	// Output: 3 paths carry 8.00 of 13
}
