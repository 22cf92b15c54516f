package oxgang

import (
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// A forecast is the last announcement of an owner that it wants nodes back, and how often such announcements came
// true.
type forecast struct {
	due          time.Time // when it is checked; zero: none is open
	most, least  int       // nodes that it would lend by then; fewest that it has lent since
	right, wrong float64
}

// belief returns the trust in an owner's forecasts: the share that came true, as if three more had been right. So an
// owner with only false forecasts does not block its nodes for ever.
func (f *forecast) belief() float64 {
	if f == nil {
		return 1
	}
	return (trusted + f.right) / (trusted + f.right + f.wrong)
}

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

type owners map[cluster.Group]*forecast

func (o owners) heed(s *policy.Snapshot) {
	for i := range s.Loans {
		l := &s.Loans[i]
		f := o[l.Group]
		if f == nil {
			f = &forecast{}
			o[l.Group] = f
		}
		f.heed(l, s.Now)
	}
}

// trusting explains the assumptions about owners of a type; empty if their forecasts are fully trusted.
func (o owners) trusting(of cluster.GPUType, t tenure) string {
	for _, l := range t {
		f := o[l.Group]
		switch {
		case len(l.Expected) == 0:
			return fmt.Sprintf("the owner of the %s does not state when it needs them back: never is assumed", of)
		case f.belief() < 1:
			return fmt.Sprintf("the owner of the %s wanted them back %.0f of the %.0f times that it had said so: %.0f %% of what it says is believed",
				of, f.right, f.right+f.wrong, 100*f.belief())
		}
	}
	return ""
}
