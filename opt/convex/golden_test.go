package convex_test

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/opt/convex"
)

// A golden is ../shared/data/boa/golden_boa.json: optima of another exact solver,
// agreed with an LP solver.
type golden struct {
	Hand []hand
	AWS  stream `json:"aws_85_jobs"`
	Sim  stream `json:"sim_filterTrace_918_jobs"`
}

// A hand is a small instance of problem (1) or (7), whose classes have one epoch.
type hand struct {
	Name    string
	Classes []struct {
		Load  float64
		Types map[string]struct {
			Price float64
			Speed map[int]float64
		}
	}
	Budget    float64
	Least     float64 `json:"min_feasible_budget"`
	Objective float64
	Used      float64 `json:"budget_used"`
	Result    string
	Solution  []handChoice
}

type handChoice struct {
	At, Next []any   // kind, width
	Share    float64 `json:"work_fraction_next"`
	Width    float64 `json:"k_fractional"`
}

// A stream is a trace's jobs by class.
type stream struct {
	Load    float64            `json:"total_load"`
	Loads   map[string]float64 `json:"load_by_class"`
	Rates   map[string]float64 `json:"arrival_rate_per_s"`
	Rescale map[string]float64 `json:"rescale_s"`
	Least   float64            `json:"min_feasible_budget_no_rescale"`
	Most    float64            `json:"max_useful_budget_no_rescale"`
	Results []struct {
		Budget     float64
		MeanJCT    float64             `json:"mean_jct_no_rescale_s"`
		Used       float64             `json:"budget_used"`
		Multiplier float64             // of the mean completion time times Σλ
		Bound      float64             `json:"with_rescale_lagrangian_lower_bound_s"`
		Single     float64             `json:"with_rescale_pure_s"`
		SingleUsed float64             `json:"with_rescale_pure_budget"`
		Widths     map[string][][2]int `json:"with_rescale_widths_runlength"`
		Mixture    float64             `json:"with_rescale_two_policy_mixture_s"`
	}
}

func readGolden(t testing.TB) *golden {
	t.Helper()
	text, err := os.ReadFile(testdata.Path(t, "boa/golden_boa.json"))
	if err != nil {
		t.Fatal(err)
	}
	g := &golden{}
	if err := json.Unmarshal(text, g); err != nil {
		t.Fatal(err)
	}
	return g
}

// rounding is how far numbers that should be equal may be apart.
const rounding = 1e-9

// near reports whether a number is the expected one but for rounding.
func near(got, want float64) bool { return isClose(got, want, rounding) }

func isClose(got, want, within float64) bool {
	return math.Abs(got-want) <= within*math.Max(math.Abs(want), 1e-3)
}

// problem returns the instance, and the names of its kinds in order.
func (h *hand) problem() (*convex.Problem, []string) {
	p, names := &convex.Problem{}, []string(nil)
	for _, c := range h.Classes {
		names = slices.Sorted(maps.Keys(c.Types))
		class := convex.Class{Rate: c.Load, Epochs: []convex.Epoch{{Size: 1}}}
		p.Prices = nil
		for kind, name := range names {
			p.Prices = append(p.Prices, c.Types[name].Price)
			for _, k := range slices.Sorted(maps.Keys(c.Types[name].Speed)) {
				class.Epochs[0].Points = append(class.Epochs[0].Points, convex.Point{Kind: kind, Width: k, Speed: c.Types[name].Speed[k]})
			}
		}
		p.Classes = append(p.Classes, class)
	}
	return p, names
}

// rows returns a table's rows below the header.
func rows(t testing.TB, name string) [][]string {
	t.Helper()
	file, err := os.Open(testdata.Path(t, "boa/"+name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	table, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return table[1:]
}

func number(t testing.TB, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// problem returns a stream with the goodputs of a table, by class name, given the
// work of each epoch in the goodput's unit. Speed is goodput over that of one GPU.
func (s *stream) problem(t testing.TB, goodputs string, work func(application string, epoch int) float64) *convex.Problem {
	t.Helper()
	p := &convex.Problem{}
	last := ""
	for _, row := range rows(t, goodputs) {
		epoch, width, goodput := int(number(t, row[1])), int(number(t, row[2])), number(t, row[3])
		if row[0] != last {
			last = row[0]
			p.Classes = append(p.Classes, convex.Class{Rate: s.Rates[last], Rescale: s.Rescale[last]})
		}
		c := &p.Classes[len(p.Classes)-1]
		if epoch == len(c.Epochs) {
			c.Epochs = append(c.Epochs, convex.Epoch{Size: work(last, epoch) / goodput})
		}
		e := &c.Epochs[epoch]
		one := work(last, epoch) / e.Size
		e.Points = append(e.Points, convex.Point{Width: width, Speed: goodput / one})
	}
	return p
}

// aws returns the 85 jobs with the speeds measured on AWS.
func (g *golden) aws(t testing.TB) *convex.Problem {
	size := map[string]float64{}
	for _, row := range rows(t, "applications.csv") {
		size[row[0]] = number(t, row[6])
	}
	return g.AWS.problem(t, "goodput_aws_measured.csv", func(a string, _ int) float64 { return size[a] })
}

// sim returns the 918 jobs with the speeds of Sia's simulator.
func (g *golden) sim(t testing.TB) *convex.Problem {
	progress := map[string]float64{}
	for _, row := range rows(t, "sim_epoch_progress.csv") {
		progress[row[0]+row[1]] = number(t, row[2])
	}
	return g.Sim.problem(t, "goodput_sim_true.csv.gz", func(a string, j int) float64 { return progress[a+strconv.Itoa(j)] })
}

// streams runs a test on both, with how far the results may be from the golden
// ones. Those of the simulator were computed from goodputs and sizes of which the
// published tables keep 6 digits: the load itself is off by 3.4e-7, multipliers
// by up to 2.4e-4, as they jump from segment to segment.
func streams(t *testing.T, test func(t *testing.T, s *stream, p *convex.Problem, within, multipliers float64)) {
	g := readGolden(t)
	t.Run("aws", func(t *testing.T) { test(t, &g.AWS, g.aws(t), rounding, rounding) })
	t.Run("sim", func(t *testing.T) { test(t, &g.Sim, g.sim(t), 1e-5, 3e-4) })
}
