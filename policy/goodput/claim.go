package goodput

import (
	"cmp"
	"context"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// A Claim is a minimum goodput that the plan must give a job in this round, even if other jobs would gain more. If two
// claims conflict, a claim with First wins, then the claim with the earlier Due.
type Claim struct {
	cluster.Configuration
	Rate  float64 // minimum goodput, samples per second; 0: no claim
	Due   float64 // seconds from now until the job should have ended; negative: it is late
	First bool
}

const claimTries = 4

// solve finds the best plan that meets all claims. It first solves the program without them. Then it pins each job
// whose claim is not met, and solves again. A job with a single configuration is pinned from the start. After
// claimTries passes all claims are pinned, in the order of byDue.
func (p *Program) solve(ctx context.Context, rows []*Row) (*mmkp.Solution, error) {
	for try := 1; ; try++ {
		sol, err := p.engine.Solve(ctx)
		if err != nil || !firmUp(rows, sol, try == claimTries) {
			return sol, err
		}
		pinner{p}.pin(rows)
		if err := p.file(rows); err != nil {
			return nil, err
		}
	}
}

func firmUp(rows []*Row, sol *mmkp.Solution, all bool) (more bool) {
	for _, r := range rows {
		if r.Claim.Rate > 0 && !r.firm && (all || !r.meets(sol)) && r.job.Phase != job.Profiling {
			r.firm, more = true, true
		}
	}
	return more
}

func (r *Row) meets(sol *mmkp.Solution) bool {
	if r.Pinned() {
		return true
	}
	pick := sol.Pick[r.item.number]
	if pick < 0 {
		return false
	}
	at := r.item.origin[pick]
	return r.reaches(int(at.column), r.cells[at.column][at.cell].goodput)
}

func (r *Row) reaches(column int, most float64) bool {
	const nearly = 1 - 1e-6 // both are sums of the same model in another order
	return column >= 0 && min(most, r.Goodput(column)) >= nearly*r.Claim.Rate
}

func byDue(rows []*Row) (all []*Row) {
	for _, r := range rows {
		if r.firm {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b *Row) int {
		if a.Claim.First != b.Claim.First {
			if a.Claim.First {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Claim.Due, b.Claim.Due)
	})
	return all
}
