package lyra

import "time"

// Ranks of nodes on loan, by their jobs.
const (
	alike = 1000 * iota
	empty
	other
)

// rankBase ranks nodes for base workers. On loan, servers with base workers come first, then empty ones, then
// those with flexible workers. Among the first, those whose jobs end soonest after the job win, then those
// that it prolongs least. Nodes reserved for another job are only for jobs that end before. Source: Lyra
// §5.3; the order by time is ours.
func (p *placer) rankBase(t *tenant) func(int) int {
	end := p.end(t)
	return func(n int) int {
		h := &p.nodes[n]
		switch {
		case !h.reservedUntil.IsZero() && end.After(h.reservedUntil), h.loaned && t.NonPreemptive:
			return -1
		case !h.loaned || !p.policy.o.Group:
			return 0
		case h.base > 0 && p.policy.o.Foresee:
			return alike + apart(h.ends.Sub(end))
		case h.base > 0:
			return alike
		case h.flexible > 0:
			return other
		}
		return empty
	}
}

func apart(later time.Duration) int {
	if later >= 0 {
		return min(249, int(later/time.Hour))
	}
	return 250 + min(249, int(-later/time.Hour))
}

// rankFlexible ranks nodes for flexible workers. On loan, servers with only such come first, then empty ones. Source:
// Lyra §5.3, "on separate groups of inference servers".
func (p *placer) rankFlexible() func(int) int {
	return func(n int) int {
		h := &p.nodes[n]
		switch {
		case !h.loaned || !p.policy.o.Group:
			return 0
		case h.base > 0:
			return other
		case h.flexible > 0:
			return alike
		}
		return empty
	}
}
