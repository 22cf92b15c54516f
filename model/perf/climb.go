package perf

// A Line is a linear function of a local batch, in seconds: Base + Slope · samples.
type Line struct{ Base, Slope float64 }

// At returns the value at a local batch.
func (l Line) At(local float64) float64 { return l.Base + l.Slope*local }

// rises reports whether l is more than 0 and does not fall.
func (l Line) rises() bool { return l.Base >= 0 && l.Slope >= 0 && l.At(1) > 0 }

// A StepTime is what a model says, without being asked for each batch size, of the time of an optimiser
// step, samples over throughput. With s accumulating passes before the last and b samples per replica and
// pass it is
//
//	(s + e(b)) · Compute(b),
//
// where e, the last pass with its exchange of gradients over one without, is at least 1, does not
// rise with b, and does not fall where it is multiplied by Exchange(b). Slack is by how much,
// relatively, that may be wrong. Zero: nothing is known.
//
// For the throughput model e(b) = (1 + (T_net/T_acc(b))^gamma)^(1/gamma), and both lines are T_acc:
// e falls, and e·T_acc is T_opt without accumulation, which rises. Source: Pollux §3.2.
type StepTime struct {
	Compute, Exchange Line
	Slack             float64
}

// StepTime returns what the parameters say.
func (p *Params) StepTime() StepTime {
	if !(p.Gamma >= 1) {
		return StepTime{}
	}
	acc := Line{p.AlphaC, p.BetaC}
	return StepTime{Compute: acc, Exchange: acc}
}

// known reports whether anything is said, and can be true.
func (t *StepTime) known() bool {
	return t.Compute.rises() && t.Exchange.rises() && t.Slack < 1e-3
}

// rounding is what the time of a step may be off by, relatively, because numbers are rounded.
const rounding = 1e-11

// An offer is a candidate that was not tried, and what is known of it. Its goodput is at most
// progress / (passes + last).
type offer struct {
	index    int
	local    int
	progress float64 // of a step
	passes   float64 // seconds of those before the last
	compute  float64 // seconds of the last without exchange
	exchange float64 // StepTime.Exchange
	last     float64 // seconds of the last at least
}

// climb finds the best candidate of a model that says how its steps take time. Each candidate has an
// upper bound of its goodput: what the smallest step that is possible would give. The one with the
// highest bound is tried. What its step takes bounds e from below for all others: for smaller
// local batches because e does not rise, for larger ones because e·Exchange does not fall. So the
// bounds fall, and those below the best goodput are dropped. It ends because each turn drops
// one at least, with the best of all, the smallest if several are: nothing is dropped that could be as good.
//
// Where the highest bound is above all local batches that were tried, the largest is tried in its place:
// nothing bounds e there, and bounds would fall one by one.
func (s *search) climb(t *StepTime) {
	var room [Candidates]offer
	offers, next := s.offers(&room, t)
	if len(offers) == 0 {
		return
	}
	// e is what is left of s + e, so that its error is that of both.
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

// offers returns all candidates, and where the one is that would be best if nothing were exchanged.
func (s *search) offers(room *[Candidates]offer, t *StepTime) (all []offer, first int) {
	most, least := 0.0, 1.0
	for i := range s.n {
		c, o := &s.candidates[i], &room[i] // an offer is long: it is made where it stays
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

// lower takes up that e is known of the offer at a place: it drops that one, and those that cannot be as good as
// the best. It returns the others, and where the one with the highest bound is.
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
		if len(left) <= k { // else the offer is in its place
			left[len(left)-1] = *o
		}
	}
	return left, next
}

// largest returns where the largest local batch is.
func largest(offers []offer) int {
	most := 0
	for k := range offers {
		if offers[k].local > offers[most].local {
			most = k
		}
	}
	return most
}
