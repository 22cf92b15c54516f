package pop

import (
	"context"
	"slices"

	"github.com/oxgang/oxgang/policy"
)

// results are the results of background work, by part.
type results []any

// together joins the parts' works, in order; nil if there are none.
func together(works []policy.Work) policy.Work {
	if !slices.ContainsFunc(works, func(w policy.Work) bool { return w != nil }) {
		return nil
	}
	return func(ctx context.Context) any {
		all := make(results, len(works))
		for part, work := range works {
			if work != nil {
				all[part] = work.Do(ctx)
			}
		}
		return all
	}
}

// dealResults stores each part's result until the part is planned. If the joined work failed, each
// part gets its error.
func (p *Policy) dealResults(computed any) {
	switch c := computed.(type) {
	case results:
		for part, result := range c {
			if result != nil {
				p.computed[part] = result
			}
		}
	case error:
		for part := range p.computed {
			if p.computed[part] == nil {
				p.computed[part] = c
			}
		}
	}
}

// result returns and removes a part's result.
func (p *Policy) result(part int) any {
	r := p.computed[part]
	p.computed[part] = nil
	return r
}
