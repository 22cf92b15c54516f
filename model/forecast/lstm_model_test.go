package forecast_test

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/forecast"
)

// The shape of the paper's network. Source: Lyra §6, "Inference resource usage
// predictor".
const (
	lstmWindow = 10
	lstmLayers = 2
	tiny       = 1e-12 // added to what is divided by: a curve may be flat
)

// A lstmModel is the paper's predictor: it predicts the next value from the last ten, and repeats it for later
// steps. It is trained once; afterwards it only updates its error.
// Source: Lyra §6, "Inference resource usage predictor".
// Deviation: how many cells a layer has and how long it trains are options, because the paper does not say.
type lstmModel struct {
	busy     float64 // the last value
	network  *network
	pass     *pass
	mean, sd float64   // of the values it was trained on
	window   []float64 // the last values, scaled; the oldest first
	next     float64   // what is expected
	spread   *forecast.Spread
}

// lstmOptions says how a network is made and trained.
type lstmOptions struct {
	Hidden int     // cells of each of the two layers, 1 to 256
	Epochs int     // passes over the values, 0 to 10000
	Batch  int     // windows between two steps of Adam, at least 1
	Rate   float64 // of Adam in the beginning, above 0 and at most 1; it falls evenly to 0
	Seed   uint64  // of the first weights and of the order of windows
}

// defaultLSTM returns options that train on ten days of 5-minute values in
// about ten seconds.
func defaultLSTM() lstmOptions {
	return lstmOptions{Hidden: 16, Epochs: 30, Batch: 32, Rate: 0.01, Seed: 1}
}

// validate returns an error that joins all complaints.
func (o lstmOptions) validate() error {
	var errs []error
	if o.Hidden < 1 || o.Hidden > 256 {
		errs = append(errs, fmt.Errorf("lstm: %d hidden cells, want 1 to 256", o.Hidden))
	}
	if o.Epochs < 0 || o.Epochs > 10_000 {
		errs = append(errs, fmt.Errorf("lstm: %d epochs, want 0 to 10000", o.Epochs))
	}
	if o.Batch < 1 {
		errs = append(errs, fmt.Errorf("lstm: batch of %d windows, want at least 1", o.Batch))
	}
	if !(o.Rate > 0 && o.Rate <= 1) { // not a number fails too
		errs = append(errs, fmt.Errorf("lstm: rate %g, want above 0 and at most 1", o.Rate))
	}
	return errors.Join(errs...)
}

// trainLSTM returns a network trained on past values, with day values a day. It returns an error for invalid
// options, fewer than eleven values, or a value outside [0, 1]. It costs epochs times values times the square of
// hidden cells.
func trainLSTM(past []float64, day int, o lstmOptions) (*lstmModel, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if len(past) <= lstmWindow {
		return nil, fmt.Errorf("lstm: %d values to train on, want at least %d", len(past), lstmWindow+1)
	}
	for i, busy := range past {
		if !(busy >= 0 && busy <= 1) { // not a number fails too
			return nil, fmt.Errorf("lstm: value %d is %g, want 0 to 1", i, busy)
		}
	}
	l := &lstmModel{network: newNetwork(lstmLayers, o.Hidden), window: make([]float64, lstmWindow), spread: forecast.NewSpread(max(day, 1))}
	l.mean, l.sd = moments(past)
	l.pass = l.network.newPass(lstmWindow)
	l.network.draw(o.Seed)
	l.network.train(l.scaled(past), o)
	for _, busy := range past {
		l.Observe(busy)
	}
	return l, nil
}

// moments returns the mean and the standard deviation of values; the latter is 1
// if they are all the same.
func moments(values []float64) (mean, sd float64) {
	for _, x := range values {
		mean += x / float64(len(values))
	}
	for _, x := range values {
		sd += (x - mean) * (x - mean) / float64(len(values))
	}
	if sd < tiny {
		return mean, 1
	}
	return mean, math.Sqrt(sd)
}

// scaled returns values of mean 0 and standard deviation 1.
func (l *lstmModel) scaled(values []float64) []float64 {
	all := make([]float64, len(values))
	for i, x := range values {
		all[i] = (x - l.mean) / l.sd
	}
	return all
}

// draw sets the first weights: even within ±1/√hidden, but 1 more for the bias of
// forget gates, so that cells begin by keeping what they hold.
func (n *network) draw(seed uint64) {
	r := rng.Stream(seed, "forecast/lstm/weights")
	reach := 1 / math.Sqrt(float64(n.layers[0].hidden))
	for i := range n.weights {
		n.weights[i] = reach * (2*r.Float64() - 1)
	}
	for i := range n.layers {
		for k := range n.layers[i].hidden {
			bias, _, _ := n.layers[i].row(n.layers[i].weights, forgetGate, k)
			*bias++
		}
	}
}

// train fits the network to predict each value from the window before it: the
// least mean squared error, by Adam over batches in random order.
func (n *network) train(values []float64, o lstmOptions) {
	windows := len(values) - lstmWindow
	order := make([]int, windows)
	for i := range order {
		order[i] = i
	}
	random := rng.Stream(o.Seed, "forecast/lstm/order")
	p, s, a := n.newPass(lstmWindow), n.newSlope(lstmWindow), newAdam(len(n.weights))
	for epoch := range o.Epochs {
		random.Shuffle(windows, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for batch := range slices.Chunk(order, o.Batch) {
			clear(s.network.weights)
			for _, i := range batch {
				e := n.forward(values[i:i+lstmWindow], p) - values[i+lstmWindow]
				n.backward(2*e/float64(len(batch)), p, s)
			}
			a.step(n.weights, s.network.weights, o.Rate*(1-float64(epoch)/float64(o.Epochs)))
		}
	}
}

// Observe tells the network the next value.
func (l *lstmModel) Observe(busy float64) {
	l.busy = forecast.Clean(busy, l.busy)
	copy(l.window, l.window[1:])
	l.window[lstmWindow-1] = (l.busy - l.mean) / l.sd
	l.next = forecast.Share(l.mean + l.sd*l.network.forward(l.window, l.pass))
	l.spread.Observe(l.busy)
	l.spread.Hold(l.next)
}

// Predict returns what the network expects of the next value, for every step.
func (l *lstmModel) Predict(ahead int) forecast.Forecast {
	f := forecast.New(ahead)
	for i := range f.Mean {
		f.Mean[i] = l.next
	}
	l.spread.Fill(f)
	return f
}
