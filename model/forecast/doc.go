// Package forecast predicts the load curve of an inference cluster: the share of busy GPUs per interval, with its
// uncertainty.
//
// Lyra reclaims loaned servers before the inference cluster needs them, from a prediction by an LSTM for the next five
// minutes (§6). How long a server can be loaned depends on the next hours, so the models here predict any number of
// intervals.
//
//	Model          prediction
//	-----          ----------
//	Last           the last value
//	SeasonalNaive  the value at the same time on the day before
//	Seasonal       the profile of past days, corrected by today's difference
//	LSTM           the network of the paper; the next interval only
//
// All learn online, except the network, which is trained once. docs/experiments/forecast.md compares them; Seasonal is
// best.
//
// Source: Lyra §6, "Inference resource usage predictor".
package forecast
