package perf

// A Line is the time in seconds, Base + Slope · samples, of a pass in which one replica processes the given samples.
type Line struct{ Base, Slope float64 }

// At returns the time in seconds for the given number of samples.
func (l Line) At(local float64) float64 { return l.Base + l.Slope*local }

func (l Line) rises() bool { return l.Base >= 0 && l.Slope >= 0 && l.At(1) > 0 }

// A StepTime bounds the time of an optimiser step for all batch sizes, so that BestBatch need not try them all. For s
// passes before the last, which only accumulate gradients, and b samples per replica and pass, the time is
//
//	(s + e(b)) · Compute(b).
//
// e is the time of the last pass, with its exchange of gradients, relative to a pass without one. It is at least 1 and
// does not rise with b; e(b) · Exchange(b) does not fall. Slack is the relative error of these assumptions. The zero
// value means unknown.
//
// In the throughput model e(b) = (1 + (T_net/T_acc(b))^gamma)^(1/gamma), and both lines are T_acc: e falls, and e·T_acc
// is T_opt without accumulation, which rises. Source: Pollux §3.2.
type StepTime struct {
	Compute, Exchange Line
	Slack             float64
}

// StepTime returns the bounds on the time of an optimiser step that follow from the parameters.
func (p *Params) StepTime() StepTime {
	if !(p.Gamma >= 1) {
		return StepTime{}
	}
	acc := Line{p.AlphaC, p.BetaC}
	return StepTime{Compute: acc, Exchange: acc}
}

func (t *StepTime) known() bool {
	return t.Compute.rises() && t.Exchange.rises() && t.Slack < 1e-3
}

// rounding is the relative rounding error of a step time.
const rounding = 1e-11

// An offer is a candidate that was not tried. Its goodput is at most progress / (passes + last).
type offer struct {
	index    int
	local    int
	progress float64 // of a step
	passes   float64 // seconds of all passes but the last
	compute  float64 // seconds of the last pass without exchange
	exchange float64
	last     float64 // seconds of the last pass, lower bound
}

// climb finds the best candidate of a model with a StepTime. It tries the candidate with the highest upper bound
// of goodput. The measured step bounds e from below for all others: for smaller local batches because e does not
// rise, for larger ones because e·Exchange does not fall. Candidates whose bound is below the best goodput are
// dropped. Each turn drops at least the tried candidate, so climb ends with the smallest of the best.
//
// If the highest bound belongs to a larger local batch than all tried, the largest is tried instead, because
// nothing bounds e there yet.
func (s *search) climb(t *StepTime) {
	var room [Candidates]offer
	offers, next := s.offers(&room, t)
	if len(offers) == 0 {
		return
	}
	// e is computed from s + e, so it has the error of both.
	enough := 1 + (rounding+t.Slack)*float64(2+s.candidates[len(offers)-1].batch.Accumulation)
	for top := 0; len(offers) > 0; {
		o := offers[next]
		top = max(top, o.local)
		s.try(o.index)
		e := 1.0
		if v := s.throughput[o.index]; v > 0 {
			e = (s.candidates[o.index].samples/v - o.passes) / o.compute
		}
		offers, next = s.lower(offers, next, e, enough)
		if len(offers) > 0 && offers[next].local > top {
			next = largest(offers)
		}
	}
}

func (s *search) offers(room *[Candidates]offer, t *StepTime) (all []offer, first int) {
	most, least := 0.0, 1.0
	for i := range s.n {
		c, o := &s.candidates[i], &room[i] // an offer is large, so it is filled in place
		local := float64(c.batch.Local)
		o.index, o.local, o.progress = i, c.batch.Local, c.samples*s.model.Efficiency(c.samples)
		o.compute, o.exchange = t.Compute.At(local), t.Exchange.At(local)
		o.passes, o.last = float64(c.batch.Accumulation)*o.compute, o.compute
		if o.progress*least > most*(o.passes+o.last) {
			first, most, least = i, o.progress, o.passes+o.last
		}
	}
	return room[:s.n], first
}

// lower applies the measured e of offers[at]: it drops this offer and all that cannot be as good as the best.
func (s *search) lower(offers []offer, at int, e, enough float64) (left []offer, next int) {
	tried, most, least := offers[at], 0.0, 1.0
	left = offers[:0]
	for k := range offers {
		o := &offers[k]
		if o.index == tried.index {
			continue
		}
		if o.local <= tried.local {
			o.last = max(o.last, e*o.compute)
		} else {
			o.last = max(o.last, e*tried.exchange*(o.compute/o.exchange))
		}
		time := o.passes + o.last
		if o.progress*enough < s.best*time {
			continue
		}
		if o.progress*least > most*time {
			next, most, least = len(left), o.progress, time
		}
		left = left[:len(left)+1]
		if len(left) <= k { // else the offer is in place already
			left[len(left)-1] = *o
		}
	}
	return left, next
}

func largest(offers []offer) int {
	most := 0
	for k := range offers {
		if offers[k].local > offers[most].local {
			most = k
		}
	}
	return most
}
