// Package forecast predicts the load curve of an inference cluster: which share
// of its GPUs will be busy, interval by interval, with how much certainty.
//
// Lyra reclaims loaned servers before the inference cluster needs them, from the
// load that an LSTM predicts for the next five minutes (§6). How long a server
// can be loaned is a question about the next hours; so a model here predicts as
// far ahead as it is asked, and says how far off it has been that far ahead.
//
//	Model          what it predicts
//	-----          ----------------
//	Last           the last value
//	SeasonalNaive  the value of the same time on the day before
//	Seasonal       the profile of past days, corrected by what today differs
//	LSTM           the network of the paper; the next interval only
//
// All are told one value after the other and learn from it as they go, except
// the network, which is trained once. docs/experiments/forecast.md compares them
// on days that they have not seen; Seasonal is the best of them there.
//
// Source: Lyra §6, "Inference resource usage predictor".
package forecast
