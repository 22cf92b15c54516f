package forecast_test

import (
	"math"
	"slices"
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

// By hand: one cell, one layer, one value; all weights 0 but those named.
func TestForward(t *testing.T) {
	n := newNetwork(1, 1)
	bias, inputs, _ := n.layers[0].row(n.layers[0].weights, candidate, 0)
	*bias, inputs[0] = 0.5, 2
	n.output[0], n.output[1] = 0.1, 3
	state := 0.5 * math.Tanh(0.5+2*0.25) // the gates are half open
	if got, want := n.forward([]float64{0.25}, n.newPass(1)), 0.1+3*0.5*math.Tanh(state); math.Abs(got-want) > 1e-15 {
		t.Errorf("got %g, want %g", got, want)
	}
	state = 0.5*state + 0.5*math.Tanh(0.5)
	if got, want := n.forward([]float64{0.25, 0}, n.newPass(2)), 0.1+3*0.5*math.Tanh(state); math.Abs(got-want) > 1e-15 {
		t.Errorf("got %g, want %g", got, want)
	}
}

// Adam finds the least of a function whose slopes differ a thousandfold.
func TestAdam(t *testing.T) {
	weights, slope := []float64{1, -2}, []float64{0, 0}
	a := newAdam(2)
	a.step(weights, []float64{1e-3, -1e3}, 0.1)
	for i, want := range []float64{0.9, -1.9} { // the first step has the length of the rate
		if math.Abs(weights[i]-want) > 1e-5 {
			t.Errorf("after a step: weight %d is %g, want %g", i, weights[i], want)
		}
	}
	for k := range 3000 {
		slope[0], slope[1] = 1e-3*weights[0], 1e3*weights[1]
		a.step(weights, slope, 0.1*(1-float64(k)/3000))
	}
	for i, w := range weights {
		if math.Abs(w) > 1e-2 {
			t.Errorf("in the end: weight %d is %g, want 0", i, w)
		}
	}
}

// One seed, one network; another seed, another.
func TestTrainLSTM_is_deterministic(t *testing.T) {
	train := func(seed uint64) *lstmModel {
		r := rng.Stream(3, "test")
		past := make([]float64, 60)
		for i := range past {
			past[i] = r.Float64()
		}
		l, err := trainLSTM(past, 20, lstmOptions{Hidden: 5, Epochs: 3, Batch: 7, Rate: 0.01, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	a, b, c := train(1), train(1), train(2)
	if !slices.Equal(a.network.weights, b.network.weights) {
		t.Error("equal seeds give different networks")
	}
	if slices.Equal(a.network.weights, c.network.weights) {
		t.Error("different seeds give equal networks")
	}
}

// What only the order of values tells: whether the next is up or down.
func TestTrainLSTM_learns(t *testing.T) {
	var busy []float64
	for i := range 400 {
		busy = append(busy, []float64{0.2, 0.5, 0.8, 0.5}[i%4])
	}
	l, err := trainLSTM(busy[:300], 4, lstmOptions{Hidden: 8, Epochs: 30, Batch: 16, Rate: 0.02, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := mse(l, busy[300:]); got > 1e-4 {
		t.Errorf("mean squared error %g, want at most 0.0001", got)
	}
	if f := l.Predict(3); f.Mean[2] != f.Mean[0] || f.SD[0] > 0.02 {
		t.Errorf("forecast %v, want that of the next value and a small deviation", f)
	}
}

func TestTrainLSTM_errors(t *testing.T) {
	past := make([]float64, 11)
	bad := slices.Clone(past)
	bad[4] = math.NaN()
	for _, tc := range []struct {
		past []float64
		edit func(*lstmOptions)
		want string
	}{
		{past[:10], func(*lstmOptions) {}, "lstm: 10 values to train on, want at least 11"},
		{bad, func(*lstmOptions) {}, "lstm: value 4 is NaN, want 0 to 1"},
		{past, func(o *lstmOptions) { o.Hidden, o.Batch = 0, 0 }, "lstm: 0 hidden cells, want 1 to 256\nlstm: batch of 0 windows, want at least 1"},
		{past, func(o *lstmOptions) { o.Epochs, o.Rate = -1, math.NaN() }, "lstm: -1 epochs, want 0 to 10000\nlstm: rate NaN, want above 0 and at most 1"},
	} {
		o := defaultLSTM()
		tc.edit(&o)
		if _, err := trainLSTM(tc.past, 288, o); err == nil || err.Error() != tc.want {
			t.Errorf("got error %v, want %s", err, tc.want)
		}
	}
	o := defaultLSTM()
	o.Epochs = 1
	if l, err := trainLSTM(past, 288, o); err != nil || math.IsNaN(l.Predict(1).Mean[0]) {
		t.Errorf("a flat curve of eleven values: %v", err)
	}
}
