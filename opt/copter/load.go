package copter

import (
	"math"

	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/lp"
)

const small = 50_000

func (s *Solver) load(p *lp.Problem) bool {
	warm := s.known
	n, m := p.ColSlots(), p.RowSlots()
	s.x, s.colStamp = fitted(s.x, n), fitted(s.colStamp, n)
	lows, ups := p.Lows(), p.Ups()
	for j := range s.x {
		if stamp := p.ColStamp(j); s.colStamp[j] != stamp {
			s.x[j], s.colStamp[j] = 0, stamp
		}
		s.x[j] = clip(s.x[j], lows[j], ups[j])
	}
	s.y = fitted(s.y, m)
	for i := range s.y {
		if i >= len(s.shape.stamp) || s.shape.stamp[i] != p.RowStamp(i) {
			s.y[i] = 0
		}
	}
	s.shape.reshape(p, warm)
	s.lambda = sized(s.lambda, m)
	s.splitRows(p)
	s.value(p)
	return warm
}

func fitted[T any](s []T, n int) []T {
	if n > len(s) {
		return append(s, make([]T, n-len(s))...)
	}
	return s[:n]
}

func (s *Solver) splitRows(p *lp.Problem) {
	loose := (len(s.shape.loose) + looseChunk - 1) / looseChunk
	n := min(max(p.Nonzeros()/(100_000+8*len(s.shape.rows)), 1), 32)
	s.parts = fitted(s.parts, n)
	s.shareCut = append(s.shareCut[:0], 0)
	done := 0
	all := len(s.shape.blocks) + loose
	for b := range all {
		if b < len(s.shape.blocks) {
			done += len(p.RowCols(int(s.shape.blocks[b])))
		} else {
			done += looseChunk
		}
		if len(s.shareCut) < n && done*n >= p.Cols()*len(s.shareCut) {
			s.shareCut = append(s.shareCut, b+1)
		}
	}
	for len(s.shareCut) <= n {
		s.shareCut = append(s.shareCut, all)
	}
}

const sample = 1_000_000

// value estimates the cost of a unit of each coupling row: mean cost over mean coefficient.
func (s *Solver) value(p *lp.Problem) {
	m := len(s.shape.rows)
	s.worth = sized(s.worth, m)
	cost, amount := make([]float64, m), make([]float64, m)
	costs := p.Costs()
	for j := 0; j < p.ColSlots(); j += max(p.Cols()/sample, 1) {
		rows, values := p.Entries(j)
		for e, q := range rows {
			if i := s.shape.index[q]; i >= 0 {
				cost[i] += max(math.Abs(costs[j]), 0.1*s.shape.size)
				amount[i] += math.Abs(values[e])
			}
		}
	}
	for i := range s.worth {
		s.worth[i] = s.shape.size
		if amount[i] > 0 {
			s.worth[i] = cost[i] / amount[i]
		}
	}
}

func (s *Solver) quantile(n int) float64 {
	total := 0
	for b := range buckets {
		for k := range s.parts {
			total += int(s.parts[k].count[b])
		}
		if total >= n {
			return math.Float64frombits(uint64(b+1) << 51)
		}
	}
	return math.Inf(1)
}

func init() { engine.Register("copter", engine.Relaxed(continual), nil) }

func continual() (lp.Solver, error) {
	o := DefaultOptions()
	o.Polish = true
	return New(o)
}
