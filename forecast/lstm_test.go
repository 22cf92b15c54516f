package forecast

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/internal/rng"
)

// The slope that going back finds is the one of small steps.
func TestBackward_agrees_with_finite_differences(t *testing.T) {
	for _, layers := range []int{1, 2, 3} {
		const hidden, window = 3, 5
		n := newNetwork(layers, hidden)
		n.draw(7)
		r := rng.Stream(7, "test")
		values := make([]float64, window)
		for i := range values {
			values[i] = r.NormFloat64()
		}
		p, s := n.newPass(window), n.newSlope(window)
		loss := func() float64 { e := n.forward(values, p) - 0.7; return e * e }
		for range 2 { // a second window adds to the first
			n.backward(2*(n.forward(values, p)-0.7), p, s)
		}
		const h = 1e-5
		for i, w := range n.weights {
			n.weights[i] = w + h
			up := loss()
			n.weights[i] = w - h
			down := loss()
			n.weights[i] = w
			if got, want := s.network.weights[i], 2*(up-down)/(2*h); math.Abs(got-want) > 1e-7+1e-6*math.Abs(want) {
				t.Errorf("%d layers: slope %d is %g, want %g", layers, i, got, want)
			}
		}
	}
}
