package market_test

import (
	"math/rand/v2"

	"github.com/oxgang/oxgang/lab/market"
)

func newSource(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// random returns a market in which each job is linear or Leontief and doubles its
// batch size, and with it its utility, in some round.
func random(s *rand.Rand, buyers, rounds, types int) *market.Market {
	m := &market.Market{Supply: make([][]float64, rounds)}
	for t := range m.Supply {
		m.Supply[t] = row(s, types)
	}
	for range buyers {
		b := market.Buyer{Budget: 0.5 + s.Float64(), Utility: market.Utility(s.IntN(2))}
		rates, change := row(s, types), s.IntN(rounds)
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

func row(s *rand.Rand, n int) []float64 {
	r := make([]float64, n)
	for j := range r {
		r[j] = 0.1 + s.Float64()
	}
	return r
}
