package metrics

import (
	"slices"

	"github.com/oxgang/oxgang/policy"
)

type worth struct {
	training float64 // of a GPU not on loan
	loan     float64
}

type appraisals struct {
	rounds         int
	training, loan float64 // sums of worth
	server         float64
}

func (r *Recorder) setWorth(s *policy.Snapshot, p *policy.Plan) {
	l := &r.lending
	l.worth = worth{}
	if p == nil || len(p.Prices) == 0 || len(s.Jobs) == 0 {
		return
	}
	l.worth = r.gpus.worth(p.Prices)
	if l.nodes > 0 {
		l.appraisals.add(&l.worth, float64(l.gpus)/float64(l.nodes))
	}
}

func (u *supply) worth(prices []policy.TypePrice) worth {
	var w, gpus worth
	for i := range prices {
		k := slices.Index(u.types, prices[i].Type)
		if k < 0 {
			continue
		}
		loan := float64(u.loaned[k])
		training := float64(u.capacity[k]) - loan
		gpus.training, w.training = gpus.training+training, w.training+training*prices[i].Price
		gpus.loan, w.loan = gpus.loan+loan, w.loan+loan*prices[i].Price
	}
	return worth{ratio(w.training, gpus.training), ratio(w.loan, gpus.loan)}
}

func (a *appraisals) add(w *worth, gpus float64) {
	a.rounds++
	a.training += w.training
	a.loan += w.loan
	a.server += gpus * w.loan
}

func (a *appraisals) of(s *LoanSummary) {
	rounds := float64(a.rounds)
	s.Priced = a.rounds
	s.TrainingPrice, s.LoanPrice = ratio(a.training, rounds), ratio(a.loan, rounds)
	s.ServerPrice = ratio(a.server, rounds)
}
