package simulate

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/oxgang/oxgang/simulate/run"
)

func lowerBound(w io.Writer, tasks []*task) error {
	for _, same := range traces(tasks) {
		best := math.Inf(1)
		for _, t := range same {
			if t.run != nil {
				best = min(best, t.run.Result.Summary.MeanJCT)
			}
		}
		if math.IsInf(best, 1) {
			continue
		}
		bound, err := run.LowerBound(same[0].config, same[0].Inputs, time.Duration(best*float64(time.Second)))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "No policy can have a mean JCT below %.3f h.", bound.Hours()); err != nil {
			return err
		}
		for _, t := range same {
			if t.run != nil && bound > 0 {
				fmt.Fprintf(w, " %s: %.2f times that.", t.name, t.run.Result.Summary.MeanJCT/bound.Seconds())
			}
		}
		fmt.Fprintln(w)
	}
	return nil
}

func traces(tasks []*task) [][]*task {
	var all [][]*task
	for _, t := range tasks {
		n := len(all)
		if n == 0 || all[n-1][0].Inputs != t.Inputs {
			all = append(all, nil)
			n++
		}
		all[n-1] = append(all[n-1], t)
	}
	return all
}
