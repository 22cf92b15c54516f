package rounds

import (
	"context"
	"fmt"
)

// COpter solves three rounds of a cluster of 256 GPUs; in each, some jobs leave and others arrive.
func ExampleStudy_Run() {
	study := Study{Spec: NewSpec(256), Engines: []string{"copter"}, Rounds: 3}
	all, err := study.Run(context.Background(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := Summarise(all)[0]
	fmt.Printf("%d rounds: value %.2f, at most %.1f %% below the bound\n", s.rounds, s.Value, 100*s.Gap)
	// Output: 3 rounds: value 28.51, at most 5.9 % below the bound
}
