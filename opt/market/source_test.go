package market_test

import "github.com/oxgang/oxgang/opt/market"

// A source is a sequence of numbers from 0 to 1 that look random.
type source struct{ state uint64 }

func newSource(seed uint64) *source { return &source{state: seed} }

// next is SplitMix64.
func (s *source) next() float64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

// random returns a market in which each job is linear or Leontief and doubles its
// batch size, and with it its utility, in some round.
func random(s *source, buyers, rounds, types int) *market.Market {
	m := &market.Market{Supply: make([][]float64, rounds)}
	for t := range m.Supply {
		m.Supply[t] = row(s, types)
	}
	for range buyers {
		b := market.Buyer{Budget: 0.5 + s.next(), Utility: market.Utility(2 * s.next())}
		rates, change := row(s, types), int(s.next()*float64(rounds))
		for t := range rounds {
			if t == change {
				for j := range rates {
					rates[j] *= 2
				}
			}
			b.Rates = append(b.Rates, append([]float64(nil), rates...))
		}
		m.Buyers = append(m.Buyers, b)
	}
	return m
}

func row(s *source, n int) []float64 {
	r := make([]float64, n)
	for j := range r {
		r[j] = 0.1 + s.next()
	}
	return r
}
