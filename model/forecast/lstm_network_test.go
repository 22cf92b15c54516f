package forecast_test

import "math"

// The gates of an LSTM cell, in the order of its rows.
const (
	inputGate = iota
	forgetGate
	outputGate
	candidate
	gates
)

// A layer is one layer of LSTM cells. Its weights are a row for each gate of each
// cell, gate by gate: a bias, then one for each input, then one for each output
// of the layer a step before.
type layer struct {
	inputs, hidden int
	weights        []float64 // aliases those of the network
}

// A network is LSTM layers, one upon the other, and a linear output of the last
// layer's last step. It reads a window of numbers and returns one.
type network struct {
	layers  []layer
	output  []float64 // a bias, then a weight for each cell; aliases weights
	weights []float64 // all of them
}

// newNetwork returns a network whose weights are 0.
func newNetwork(layers, hidden int) *network {
	n, size := &network{}, 0
	for i := range layers {
		l := layer{inputs: hidden, hidden: hidden}
		if i == 0 {
			l.inputs = 1
		}
		n.layers = append(n.layers, l)
		size += gates * hidden * l.width()
	}
	n.weights = make([]float64, size+1+hidden)
	rest := n.weights
	for i := range n.layers {
		l := &n.layers[i]
		l.weights, rest = cutOff(rest, gates*hidden*l.width())
	}
	n.output = rest
	return n
}

func cutOff(s []float64, n int) (head, tail []float64) { return s[:n:n], s[n:] }

// width returns the weights of a row.
func (l *layer) width() int { return 1 + l.inputs + l.hidden }

func (l *layer) row(weights []float64, gate, cell int) (bias *float64, inputs, before []float64) {
	i := (gate*l.hidden + cell) * l.width()
	return &weights[i], weights[i+1 : i+1+l.inputs], weights[i+1+l.inputs : i+l.width()]
}

// A step is what a layer computed of one number of the window.
type step struct {
	input []float64        // aliases out of the layer below
	gate  [gates][]float64 // by cell, after the sigmoid or tanh
	state []float64
	bend  []float64 // tanh of state
	out   []float64
}

// A pass holds what the network computed of one window, for going back. Step 0 of
// each layer is the zero state before the window.
type pass struct {
	window []float64
	steps  [][]step // [layer][step]
}

func (n *network) newPass(window int) *pass {
	p := &pass{steps: make([][]step, len(n.layers))}
	for i, l := range n.layers {
		p.steps[i] = make([]step, window+1)
		for t := range p.steps[i] {
			p.steps[i][t] = newStep(l.hidden)
		}
	}
	return p
}

func newStep(hidden int) step {
	s := step{state: make([]float64, hidden), bend: make([]float64, hidden), out: make([]float64, hidden)}
	for g := range s.gate {
		s.gate[g] = make([]float64, hidden)
	}
	return s
}

// forward returns the output for a window, of the length the pass was made for,
// and keeps in the pass how it came about. The pass aliases the window.
func (n *network) forward(window []float64, p *pass) float64 {
	p.window = window
	for i := range n.layers {
		for t := range window {
			s := &p.steps[i][t+1]
			if s.input = window[t : t+1]; i > 0 {
				s.input = p.steps[i-1][t+1].out
			}
			n.layers[i].forward(s, &p.steps[i][t])
		}
	}
	return n.output[0] + dot(n.output[1:], p.last())
}

func (p *pass) last() []float64 { return p.steps[len(p.steps)-1][len(p.window)].out }

func (l *layer) forward(s, before *step) {
	for k := range l.hidden {
		for g := range gates {
			bias, inputs, recurrent := l.row(l.weights, g, k)
			z := *bias + dot(inputs, s.input) + dot(recurrent, before.out)
			if g == candidate {
				s.gate[g][k] = math.Tanh(z)
			} else {
				s.gate[g][k] = 1 / (1 + math.Exp(-z))
			}
		}
		s.state[k] = s.gate[forgetGate][k]*before.state[k] + s.gate[inputGate][k]*s.gate[candidate][k]
		s.bend[k] = math.Tanh(s.state[k])
		s.out[k] = s.gate[outputGate][k] * s.bend[k]
	}
}

// dot returns the inner product of two vectors of one length.
func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func add(a []float64, w float64, b []float64) {
	for i, x := range b {
		a[i] += w * x
	}
}
