package convex_test

import (
	"fmt"

	"github.com/oxgang/oxgang/opt/convex"
)

// Jobs that come once an hour and take an hour on one GPU. For 1.2 GPUs on average
// they run on 2 GPUs for three fifths of their work, and on 4 for the rest.
func ExampleProblem_Solve() {
	jobs := convex.Class{Rate: 1, Epochs: []convex.Epoch{{
		Size:   1,
		Points: []convex.Point{{Width: 1, Speed: 1}, {Width: 2, Speed: 1.8}, {Width: 4, Speed: 3}, {Width: 8, Speed: 4}},
	}}}
	p := convex.Problem{Classes: []convex.Class{jobs}}
	s, err := p.Solve(1.2)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := s.Widths[0][0]
	fmt.Printf("%d to %d GPUs, share %.1f, %.2f on average: %.3f hours\n", m.At.Width, m.Next.Width, m.Share, m.Width(), s.MeanJCT)
	_, err = p.Solve(0.9)
	fmt.Println(err)
	// Output:
	// 2 to 4 GPUs, share 0.4, 2.57 on average: 0.467 hours
	// convex: budget 0.9, want at least 1
}

// What each budget buys.
func ExampleFrontier_Breakpoints() {
	p := convex.Problem{Classes: []convex.Class{{Rate: 1, Epochs: []convex.Epoch{{
		Size:   1,
		Points: []convex.Point{{Width: 1, Speed: 1}, {Width: 2, Speed: 1.8}, {Width: 4, Speed: 3}, {Width: 8, Speed: 4}},
	}}}}}
	f, err := p.Frontier()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range f.Breakpoints() {
		fmt.Printf("budget %.2f: %.2f hours; one more GPU would save %.3f\n", b.Budget, b.MeanJCT, b.Multiplier)
	}
	// Output:
	// budget 1.00: 1.00 hours; one more GPU would save 4.000
	// budget 1.11: 0.56 hours; one more GPU would save 1.000
	// budget 1.33: 0.33 hours; one more GPU would save 0.125
	// budget 2.00: 0.25 hours; one more GPU would save 0.000
}

// With twenty minutes to rescale for jobs of a hundred, some get 2 GPUs and others
// 3: no single width is as good.
func ExampleProblem_Mixture() {
	p := convex.Problem{Classes: []convex.Class{{
		Rate: 1, Rescale: 20,
		Epochs: []convex.Epoch{{
			Size:   100,
			Points: []convex.Point{{Width: 1, Speed: 1}, {Width: 2, Speed: 1.6}, {Width: 3, Speed: 2}, {Width: 4, Speed: 2.2}},
		}},
	}}}
	m, err := p.Mixture(190)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d GPUs: %.1f minutes; %.2f of them %d GPUs: %.2f minutes\n",
		m.Cheap.Widths[0][0].Width, m.Cheap.MeanJCT, m.Share, m.Fast.Widths[0][0].Width, m.MeanJCT)
	// Output:
	// 2 GPUs: 82.5 minutes; 0.56 of them 3 GPUs: 75.56 minutes
}
