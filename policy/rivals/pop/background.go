package pop

import (
	"context"
	"slices"

	"github.com/oxgang/oxgang/policy"
)

// results are what the works of the parts returned, by part.
type results []any

// together returns the parts' works as one, in the order of the parts, nil if there
// are none.
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

// dealResults keeps for each part what its work returned, until the part is asked. If the
// joined work failed, each part is shown its error.
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

// result returns what a part is shown as computed, once.
func (p *Policy) result(part int) any {
	r := p.computed[part]
	p.computed[part] = nil
	return r
}
