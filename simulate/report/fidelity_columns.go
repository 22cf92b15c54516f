package report

import (
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/scheduler/metrics"
)

var trustColumns = []remark{
	{key: "trusted", value: ofTrust(func(t *metrics.Trust) string { return strconv.FormatBool(t.Trusted) })},
	{key: "own_policy_jct_error", value: ofTrust(func(t *metrics.Trust) string { return number(t.JCT) })},
	{key: "own_policy_wait_error", value: ofTrust(func(t *metrics.Trust) string { return number(t.Wait) })},
	{key: "own_policy_median_wait_error", value: ofWaits(func(w *metrics.WaitErrors) float64 { return w.Median })},
	{key: "own_policy_p90_wait_error", value: ofWaits(func(w *metrics.WaitErrors) float64 { return w.P90 })},
	{key: "own_policy_utilisation_error", value: ofTrust(func(t *metrics.Trust) string { return number(t.Utilisation) })},
	{key: "not_trusted_because", value: ofTrust(func(t *metrics.Trust) string { return strings.Join(t.Causes, "; ") }), words: true},
}

func ofTrust(f func(*metrics.Trust) string) func(*Run) string {
	return func(r *Run) string {
		if r.Trust == nil {
			return ""
		}
		return f(r.Trust)
	}
}

func ofWaits(f func(*metrics.WaitErrors) float64) func(*Run) string {
	return ofTrust(func(t *metrics.Trust) string {
		if t.Waits == nil {
			return ""
		}
		return number(f(t.Waits))
	})
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
