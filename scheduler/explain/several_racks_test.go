package explain

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/perf"
)

// What was measured of a class in several racks is said in words, with how many comparisons say so.
func TestMoment_Cross(t *testing.T) {
	for want, c := range map[string]perf.LocalityCost{
		"steps of its class took 1.3 times as long in several racks as in one, where GPUs and batch sizes were the same (2 comparisons)": {Times: 1.3, Pairs: 2},
		"steps of its class took 1.01 times as long in several racks as in one, where GPUs and batch sizes were the same (1 comparison)": {Times: 1.01, Pairs: 1},
		"steps of its class took as long in several racks as in one, to 1 %, where GPUs and batch sizes were the same (3 comparisons)":   {Times: 1.009, Pairs: 3},
		"steps of its class took 20 % less in several racks than in one, where GPUs and batch sizes were the same (1 comparison)":        {Times: 0.8, Pairs: 1},
	} {
		var m Moment
		if m.Cross(c); m.Racks != want || *m.Locality != c {
			t.Errorf("%+v: %q, want %q", c, m.Racks, want)
		}
		rows := make(map[string]string)
		if m.prediction(func(key, value string) { rows[key] = value }); rows["racks"] != want {
			t.Errorf("rows %v, want racks", rows)
		}
	}
	var m Moment
	m.prediction(func(key, value string) {
		if strings.Contains(value, "rack") {
			t.Errorf("%s: %s, want no word of racks: nothing is known", key, value)
		}
	})
}
