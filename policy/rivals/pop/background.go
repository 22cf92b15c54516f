package pop

import (
	"context"
	"slices"

	"github.com/oxgang/oxgang/policy"
)

type results []any

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

func (p *Policy) result(part int) any {
	r := p.computed[part]
	p.computed[part] = nil
	return r
}
