package forecast_test

// A slope is the derivative of a loss by the weights of a network, and what it
// takes to get there through a pass.
type slope struct {
	network *network    // whose weights are the derivatives
	out     [][]float64 // by step of the window: derivative by what the layer gives
	in      [][]float64 // likewise by what it is given
	carry   []float64   // derivative by the state, carried back a step
}

func (n *network) newSlope(window int) *slope {
	hidden := n.layers[0].hidden
	s := &slope{network: newNetwork(len(n.layers), hidden), carry: make([]float64, hidden)}
	for range window {
		s.out = append(s.out, make([]float64, hidden))
		s.in = append(s.in, make([]float64, hidden))
	}
	return s
}

// backward adds to the slope the derivative of a loss whose derivative by the
// output of the pass is d: backpropagation through time.
func (n *network) backward(d float64, p *pass, s *slope) {
	s.network.output[0] += d
	add(s.network.output[1:], d, p.last())
	for t := range s.out {
		clear(s.out[t])
	}
	add(s.out[len(s.out)-1], d, n.output[1:])
	for i := len(n.layers) - 1; i >= 0; i-- {
		clear(s.carry)
		for t := len(p.window); t > 0; t-- {
			n.layers[i].backward(&p.steps[i][t], &p.steps[i][t-1], s.network.layers[i].weights, s, t-1)
		}
		s.out, s.in = s.in, s.out // what this layer was given the one below gave
	}
}

// backward goes back through a step: it adds to the derivatives by the layer's
// weights, and passes those by the input, by the output before and by the state
// before on.
func (l *layer) backward(s, before *step, weights []float64, d *slope, t int) {
	in := d.in[t][:l.inputs]
	clear(in)
	var earlier []float64
	if t > 0 {
		earlier = d.out[t-1]
	}
	for k := range l.hidden {
		for g, z := range l.slopes(s, before, d, t, k) {
			_, wi, wr := l.row(l.weights, g, k)
			bias, di, dr := l.row(weights, g, k)
			*bias += z
			add(di, z, s.input)
			add(in, z, wi)
			if t > 0 {
				add(dr, z, before.out)
				add(earlier, z, wr)
			}
		}
	}
}

// slopes returns the derivatives by the gates of a cell before their sigmoid or
// tanh, and carries that by its state back.
func (l *layer) slopes(s, before *step, d *slope, t, k int) [gates]float64 {
	var z [gates]float64
	out, bend := d.out[t][k], s.bend[k]
	i, f, o, c := s.gate[inputGate][k], s.gate[forgetGate][k], s.gate[outputGate][k], s.gate[candidate][k]
	state := d.carry[k] + out*o*(1-bend*bend)
	z[inputGate] = state * c * i * (1 - i)
	z[forgetGate] = state * before.state[k] * f * (1 - f)
	z[outputGate] = out * bend * o * (1 - o)
	z[candidate] = state * i * (1 - c*c)
	d.carry[k] = state * f
	return z
}
