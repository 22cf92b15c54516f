package regime

// A Rule says how the expected lengths of regimes follow from the epochs seen.
type Rule uint8

// The rules. Restatement is the paper's; it compares the others with it.
// Source: Shockwave §5.
const (
	Restatement Rule = iota // past regimes as seen, the rest divided equally
	Bayes                   // every epoch seen adds one to its regime
	Greedy                  // the present regime lasts to the end
)

var ruleNames = [...]string{"restatement", "bayes", "greedy"}

// String returns the rule's name.
func (r Rule) String() string { return ruleNames[r] }

// update sets what is expected of the regimes. It takes O(K) time.
func (p *Predictor) update() {
	if p.stated != nil {
		p.follow()
		return
	}
	switch p.rule {
	case Restatement:
		p.restate()
	case Bayes:
		p.count()
	case Greedy:
		p.persist()
	}
}

// restate makes the distribution Dir(m_1, …, m_k, S_k, …, S_k) once k regimes
// are over: each of the K − k others, the present one among them, is expected to
// last S_k = (N − Σ m_i) / (K − k). Source: Shockwave §5.
//
// Deviation: a present regime that has lasted longer than S_k is expected to end now,
// with the epochs seen, because the paper states the rule for the ends of regimes only.
//
// With this rule, if there are no more than K regimes, the sum of |expected − true|
// over them never grows from one epoch to the next. Up to S_k epochs nothing changes.
// Each further epoch reduces the error of the present regime by one, and adds at most
// one to the errors of the others. If a regime ends early, the others share the epochs
// that it leaves.
func (p *Predictor) restate() {
	left := float64(p.epochs)
	for i := range p.regimes {
		r := &p.regimes[i]
		r.Expected = float64(r.Seen)
		if i >= p.present {
			r.Expected = max(r.Expected, left/float64(len(p.regimes)-i))
		}
		left -= r.Expected
	}
}

// follow expects past regimes as seen and the rest as stated. The last regime gets the difference
// to the job's number of epochs.
func (p *Predictor) follow() {
	left := float64(p.epochs)
	for i := range p.regimes {
		r := &p.regimes[i]
		r.Expected = float64(r.Seen)
		if i >= p.present && i < len(p.stated) {
			r.Expected = max(r.Expected, min(left, float64(p.stated[i])))
		}
		if left -= r.Expected; i == len(p.regimes)-1 {
			r.Expected += max(0, left)
		}
	}
}

// count makes the distribution Dir(N/K + m_1, …, N/K + m_K): the usual update
// of the prior, as if epochs came in any order. Source: Shockwave §5.
func (p *Predictor) count() {
	n := float64(p.epochs)
	prior := n / float64(len(p.regimes))
	for i := range p.regimes {
		r := &p.regimes[i]
		r.Expected = n * (prior + float64(r.Seen)) / (n + float64(p.seen))
	}
}

// persist expects no regime after the present one, as schedulers do that only know
// the latest throughput. Source: Shockwave §5.
func (p *Predictor) persist() {
	for i := range p.regimes {
		r := &p.regimes[i]
		r.Expected = float64(r.Seen)
		if i == p.present {
			r.Expected += float64(p.epochs - p.seen)
		}
	}
}
