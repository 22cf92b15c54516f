package oxgang

import (
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// A forecast is what the owner of nodes on loan last said that it wants back, and how often that came true.
type forecast struct {
	due          time.Time // until then; zero: nothing is foretold
	most, least  int       // nodes that it would lend then; that it lent since
	right, wrong float64
}

// belief returns the part of what an owner foretells that is believed: as often as it was right, and as if it had been
// right three times before. So who always says that he wants his nodes back, and never does, keeps nobody off them for ever.
func (f *forecast) belief() float64 {
	if f == nil {
		return 1
	}
	return (trusted + f.right) / (trusted + f.right + f.wrong)
}

// heed compares what an owner foretold with what it lends, and notes what it foretells next.
func (f *forecast) heed(l *cluster.Loan, now time.Time) {
	lends := l.Lent + l.Spare - l.Reclaim
	if f.least = min(f.least, lends); !f.due.IsZero() && !now.Before(f.due) {
		if f.least <= f.most {
			f.right++
		} else {
			f.wrong++
		}
		f.due = time.Time{}
	}
	for k := 0; k < len(l.Expected) && f.due.IsZero(); k++ {
		if l.Expected[k] < lends {
			f.due, f.most, f.least = now.Add(time.Duration(k+1)*l.Every), l.Expected[k], lends
		}
	}
}

// heed notes what all owners foretell.
func (p *Policy) heed(s *policy.Snapshot) {
	for i := range s.Loans {
		l := &s.Loans[i]
		f := p.owners[l.Group]
		if f == nil {
			f = &forecast{}
			p.owners[l.Group] = f
		}
		f.heed(l, s.Now)
	}
}

// trusting says what is assumed of the owners of nodes on loan of a type; empty: what they say.
func (p *Policy) trusting(of cluster.GPUType) string {
	for _, l := range p.lent[of] {
		f := p.owners[l.Group]
		switch {
		case len(l.Expected) == 0:
			return fmt.Sprintf("the owner of the %s does not say when it wants them back: taken as never", of)
		case f.belief() < 1:
			return fmt.Sprintf("the owner of the %s wanted them back %.0f of the %.0f times that it had said so: %.0f %% of what it says is believed",
				of, f.right, f.right+f.wrong, 100*f.belief())
		}
	}
	return ""
}
