package market_test

import (
	"fmt"

	"github.com/oxgang/oxgang/lab/market"
)

// A job doubles its batch size after the first round; beside it is one that does
// not. The first leaves that round to the second.
func ExampleMarket_Solve() {
	m := market.Market{
		Supply: [][]float64{{8}, {8}}, // GPU hours
		Buyers: []market.Buyer{
			{Budget: 1, Rates: [][]float64{{1}, {2}}},
			{Budget: 1, Rates: [][]float64{{1}, {0.9}}},
		},
	}
	s, err := m.Solve(market.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("GPU hours %.2f %.2f\n", s.X[0], s.X[1])
	fmt.Printf("utilities %.2f, prices %.3f, rho %.2f\n", s.Utilities, s.Prices, m.Rho(s.X))
	// Output:
	// GPU hours [[0.00] [8.00]] [[8.00] [0.00]]
	// utilities [16.00 8.00], prices [[0.125] [0.125]], rho [0.75 0.95]
}
