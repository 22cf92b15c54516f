package multimode_test

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/opt/multimode"
)

// Two GPUs for four rounds. The first job, which runs now, needs both for two rounds. The second can use one for
// up to four rounds, each worth less than the last. The third needs one round. The bound has three rounds for the
// second job: these fit in total, but not round by round.
func ExampleSolve() {
	rounds := func(left int, values ...float64) []multimode.Point {
		var after []multimode.Point
		for n, v := range values {
			after = append(after, multimode.Point{Value: v, Left: float64(left - n - 1)})
		}
		return after
	}
	p := &multimode.Problem{
		Rounds: 4, Capacity: []int{2}, Lambda: 0.1,
		Jobs: []multimode.Job{
			{Idle: multimode.Point{Left: 2}, Modes: []multimode.Mode{{Amount: 2, After: rounds(2, 3, 6)}}, Held: 0, Again: 0.5},
			{Idle: multimode.Point{Left: 4}, Modes: []multimode.Mode{{Amount: 1, After: rounds(4, 2, 3, 3.5, 3.7)}}, Held: -1, Again: 0.5},
			{Idle: multimode.Point{Left: 1}, Modes: []multimode.Mode{{Amount: 1, After: rounds(1, 1)}}, Held: -1},
		},
	}
	t, err := multimode.Solve(context.Background(), p, multimode.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, r := range t.Runs {
		fmt.Printf("job %d:", i)
		for n := range p.Rounds {
			fmt.Print(map[bool]string{true: " runs", false: " -"}[r.In(n)])
		}
		fmt.Println()
	}
	fmt.Printf("value %.2f, bound %.2f\n", t.Value, t.Bound)
	// Output:
	// job 0: runs runs - -
	// job 1: - - runs runs
	// job 2: - - runs -
	// value 9.80, bound 10.40
}
