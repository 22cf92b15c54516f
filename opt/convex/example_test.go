package convex_test

import (
	"fmt"

	"github.com/oxgang/oxgang/opt/convex"
)

// Jobs that come once an hour and take an hour on one GPU. For 1.2 GPUs on average
// they run on 2 GPUs for three fifths of their work, and on 4 for the rest.
func ExampleProblem_Frontier() {
	jobs := convex.Class{Rate: 1, Epochs: []convex.Epoch{{
		Size:   1,
		Points: []convex.Point{{Width: 1, Speed: 1}, {Width: 2, Speed: 1.8}, {Width: 4, Speed: 3}, {Width: 8, Speed: 4}},
	}}}
	p := convex.Problem{Classes: []convex.Class{jobs}}
	f, err := p.Frontier()
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := f.At(1.2)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := s.Widths[0][0]
	fmt.Printf("%d to %d GPUs, share %.1f: %.3f hours\n", m.At.Width, m.Next.Width, m.Share, s.MeanJCT)
	_, err = f.At(0.9)
	fmt.Println(err)
	// Output:
	// 2 to 4 GPUs, share 0.4: 0.467 hours
	// convex: budget 0.9, want at least 1
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
