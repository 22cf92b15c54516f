package history

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/config"
)

// TestPrice: no sum without a currency and a source.
func TestPrice(t *testing.T) {
	for _, test := range []struct{ text, source, want string }{
		{"", "", ""},
		{"2.50 EUR", "a contract", ""},
		{"2.50EUR", "a contract", ""},
		{"2.50 EUR", "", "want both or none"},
		{"", "a contract", "want both or none"},
		{"2.50", "a contract", "a currency"},
		{"EUR", "a contract", "an amount"},
		{"0 EUR", "a contract", "above 0"},
		{"-1 EUR", "a contract", "above 0"},
	} {
		p, err := ParsePrice(test.text, test.source)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q, %q: error %v, want %q", test.text, test.source, err, test.want)
		}
		if test.want != "" && test.text == "" && p.known() {
			t.Errorf("%q: a price is known", test.text)
		}
	}
	p, err := ParsePrice("2.50 EUR", "a contract")
	if err != nil || p.perYear(8) != 8*2.5*24*365 || thousands(p.perYear(8)) != "175,000" {
		t.Errorf("8 GPUs cost %v a year, %v; want 175200, 175,000 for people", p.perYear(8), err)
	}
}

// TestScenarios: what is assumed is said as it is set, and what cannot be is refused.
func TestScenarios(t *testing.T) {
	for text, want := range map[string]string{
		"scenarios: [{name: a, preempt: true, restart: 60s, elastic: 0.2, scaling-loss: 0.1}]": "",
		"scenarios: []":                                 "no scenarios",
		"scenarios: [{preempt: true}]":                  "no name",
		"scenarios: [{name: a}, {name: a}]":             "named as another",
		"scenarios: [{name: a, elastic: 2}]":            "want 0 to 1",
		"scenarios: [{name: a, restart: 5s}]":           "preempt: true with it",
		"scenarios: [{name: a, preempt: 1, oops: yes}]": "oops",
	} {
		got, err := ReadScenarios(strings.NewReader(text), "s.yaml")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
		if want != "" {
			continue
		}
		c := config.Default()
		got[0].apply(c)
		if *c.Sim.Restart != time.Minute || c.Jobs.Elastic != 0.2 || c.Jobs.ScalingLoss != 0.1 || !got[0].random() {
			t.Errorf("%s: %+v", text, c.Jobs)
		}
		if says := got[0].says(); !strings.HasPrefix(says, "a: 20 % of jobs may run on up to twice") || !strings.HasSuffix(says, "jobs may be preempted, and continue after 1m0s") {
			t.Errorf("says %q", says)
		}
	}
}

// TestFewer: fewer GPUs are found by simulation: with the best alternative jobs wait no longer than under the own policy, and on the
// next smaller cluster that was tried they do.
func TestFewer(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a dozen clusters: seconds")
	}
	a := asked(t, "made.txt.gz", "nodes.txt", "config-b.txt", func(q *Question) {
		q.Policies, q.Price = []string{"srtf"}, Price{perHour: 2, currency: "EUR", source: "a test"}
		if err := q.Config.Set("cluster", "a100:20x8", "test"); err != nil {
			t.Fatal(err)
		}
	})
	if !a.Trust.Trusted || a.Fewer == nil {
		t.Fatalf("trusted %t (%s), fewer GPUs %+v, want both", a.Trust.Trusted, a.Trust.Errors(), a.Fewer)
	}
	f := a.Fewer
	for _, s := range f.Tried {
		if enough := s.MeanWait <= a.replayed.MeanWait && s.P90Wait <= a.replayed.P90Wait; enough != (s.GPUs >= f.Enough) {
			t.Errorf("on %d GPUs the mean wait is %.0f s of %.0f, but %d are said to be enough", s.GPUs, s.MeanWait, a.replayed.MeanWait, f.Enough)
		}
	}
	if f.AtLeast > f.Enough || f.AtMost < f.Enough || math.Abs(f.Money-float64(160-f.Enough)*2*24*365) > 1 || f.Currency != "EUR" {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(a.Sentence, "to keep the mean and P90 wait of your own policy") || !strings.Contains(a.Sentence, "(2 EUR a GPU-hour, a test)") {
		t.Errorf("sentence %q", a.Sentence)
	}
}

// TestCut: a part of a cluster has the same part of each type, rounded up.
func TestCut(t *testing.T) {
	c := config.Default()
	if err := c.Set("cluster", "t4:5x4,a100:2x8", "test"); err != nil {
		t.Fatal(err)
	}
	nodes, err := c.BuildCluster()
	if err != nil {
		t.Fatal(err)
	}
	for keep, want := range map[int][2]int{4: {5, 2}, 2: {3, 1}, 1: {2, 1}} {
		part := cut(nodes, keep, 4)
		t4, _ := part.Type("t4")
		a100, _ := part.Type(cluster.GPUType("a100"))
		if t4.Nodes != want[0] || a100.Nodes != want[1] {
			t.Errorf("%d of 4: %d and %d nodes, want %v", keep, t4.Nodes, a100.Nodes, want)
		}
	}
}

// TestMerged: rows of several seeds are averaged, and the range has all of theirs.
func TestMerged(t *testing.T) {
	one, other := rowOf("a", "s", &metrics.Figures{Wait: 100}), rowOf("a", "s", &metrics.Figures{Wait: 200})
	one.change.Ratio, one.change.Low, one.change.High = 1, 0.5, 1.5
	other.change.Ratio, other.change.Low, other.change.High = 2, 1.8, 3
	got := merged([]Row{one, other})
	if got.MeanWait != 150 || *got.Low != 50 || *got.High != 300 {
		t.Errorf("%.0f (%.0f to %.0f), want 150 (50 to 300)", got.MeanWait, *got.Low, *got.High)
	}
}
