package ledger

import "time"

// A Period is the time from From, included, to To, excluded. The zero value is all time.
type Period struct{ From, To time.Time }

func (p Period) overlap(from, to time.Time) time.Duration {
	if p != (Period{}) {
		if from.Before(p.From) {
			from = p.From
		}
		if to.After(p.To) {
			to = p.To
		}
	}
	return max(0, to.Sub(from))
}

// Has reports whether a time is in the period.
func (p Period) Has(t time.Time) bool {
	return p == (Period{}) || !t.Before(p.From) && t.Before(p.To)
}

// Missing returns the parts of the period, in order, that are in no period of covered.
func (p Period) Missing(covered []Period) []Period {
	rest := []Period{p}
	for _, c := range covered {
		var next []Period
		for _, r := range rest {
			if r.overlap(c.From, c.To) == 0 {
				next = append(next, r)
				continue
			}
			if r.From.Before(c.From) {
				next = append(next, Period{r.From, c.From})
			}
			if c.To.Before(r.To) {
				next = append(next, Period{c.To, r.To})
			}
		}
		rest = next
	}
	return rest
}
