// Package lstm is Lyra's predictor of how busy an inference cluster will be: a small
// recurrent network. It serves the comparison in docs/experiments/forecast.md alone; the
// models of package forecast predict better and learn as they go.
package lstm
