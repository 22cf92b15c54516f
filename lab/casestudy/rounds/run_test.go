package rounds

import (
	"encoding/csv"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/exact"
)

// Thesis §4.4.1: "the shim simply picks the configuration with highest weight in
// the solution to the LP-relaxation without violating GPU constraints. If it
// finds no such configuration for the job, it receives no allocation in this
// round".
func TestShim(t *testing.T) {
	configs := []config{{0, 1}, {0, 2}, {0, 4}, {1, 1}}
	weights := [][]weight{
		{{Choice: 0, X: 0.4}, {Choice: 2, X: 0.6}}, // 4 GPUs do not fit beside the whole ones: takes 1
		{{Choice: 1, X: 1}},
		{{Choice: 3, X: 0.5}, {Choice: 1, X: 0.5}}, // of equal weights the first
		nil,
		{{Choice: 3, X: 0.3}}, // nothing fits
	}
	got := shim(weights, configs, []int{4, 1})
	if d := cmp.Diff([]int{0, 1, 3, -1, -1}, got); d != "" {
		t.Error(d)
	}
}

func TestShim_fits(t *testing.T) {
	configs := generator(t, NewSpec(64)).Configs()
	rapid.Check(t, func(r *rapid.T) {
		capacity := rapid.SliceOfN(rapid.IntRange(0, 16), 7, 7).Draw(r, "capacity")
		weight := rapid.Custom(func(r *rapid.T) weight {
			return weight{Choice: rapid.IntRange(0, len(configs)-1).Draw(r, "config"), X: rapid.Float64Range(0, 1).Draw(r, "x")}
		})
		picks := shim(rapid.SliceOf(rapid.SliceOfN(weight, 0, 4)).Draw(r, "weights"), configs, capacity)
		for _, c := range picks {
			if c >= 0 {
				capacity[configs[c].Type] -= configs[c].GPUs
			}
		}
		for k, left := range capacity {
			if left < 0 {
				r.Fatalf("type %d: %d GPUs too many", k, -left)
			}
		}
	})
}

// All engines answer the same rounds: none beats a proven bound, none violates a
// capacity, and the exact ones are as good as each other.
func TestStudy(t *testing.T) {
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
	s := Study{Spec: NewSpec(64), Engines: []string{"simplex", "ipm", "mip", "pop:1:mip", "pop:2:mip"}, Rounds: 2}
	s.Spec.gpus, s.Spec.Jobs, s.Spec.types = 128, 40, 3
	all, err := s.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 20 {
		t.Fatalf("%d measurements, want 20", len(all))
	}
	value := map[string]float64{}
	for _, m := range all {
		value[m.Engine] += m.value
		if m.violation > 0 || m.residual > 1e-6 || m.value > m.best+1e-6 || m.status != "optimal" {
			t.Errorf("%+v", m)
		}
		if relaxed := m.Engine == "simplex"; relaxed && (m.gap > 0.02 || m.fractional > 3) {
			t.Errorf("%s, round %d: gap %v, %d jobs split, want at most one for each of 3 types", m.Engine, m.Round, m.gap, m.fractional)
		}
	}
	if m := value["mip"]; value["simplex"] > m*1.0002 || value["pop:2:mip"] > m*1.0002 || max(value["pop:1:mip"]/m, m/value["pop:1:mip"]) > 1.0002 {
		t.Errorf("values %v, want none above mip by more than its gap, and one part to be the whole", value)
	}
}

func TestStudy_refuses(t *testing.T) {
	small := Spec{gpus: 8, types: 1, Jobs: 1}
	for want, s := range map[string]Study{
		"0 engines, 1 rounds, want at least one of each":                               {Spec: small, Rounds: 1},
		`engine "pop:x": "x" parts, want a number of at least 1`:                       {Spec: small, Engines: []string{"pop:x"}, Rounds: 1},
		"engine mip is listed twice":                                                   {Spec: small, Engines: []string{"mip", "mip"}, Rounds: 1},
		"types 0, want at least 1\njobs 0, want at least 1":                            {Engines: []string{"mip"}, Rounds: 1},
		`engine "gurobi" is not known, want one of ` + strings.Join(KindNames(), ", "): {Spec: small, Engines: []string{"gurobi"}, Rounds: 1},
	} {
		if _, err := s.Run(t.Context(), nil); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	s := Study{Spec: small, Engines: []string{"pop:2:simplex"}, Rounds: 1}
	if _, err := s.Run(t.Context(), nil); err == nil || !strings.HasSuffix(err.Error(), "has no node") {
		t.Errorf("two parts of one node: error %v", err)
	}
}

func TestWriters(t *testing.T) {
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
	s := Study{Spec: NewSpec(64), Engines: []string{"simplex", "pop:1:simplex"}, Rounds: 3}
	s.Spec.types, s.Spec.Jobs = 2, 10
	said := 0
	all, err := s.Run(t.Context(), func(Measurement) { said++ })
	if err != nil || said != len(all) {
		t.Fatalf("%d of %d measurements said, error %v", said, len(all), err)
	}
	var table, page, rows strings.Builder
	if err := errors.Join(Table(&table, Summarise(all)), HTML(&page, s, all), CSV(&rows, all)); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(table.String(), "\n"); n != 3 {
		t.Errorf("%d lines, want a head and two engines:\n%s", n, table.String())
	}
	for _, want := range []string{"<td>simplex</td>", "Figure 4.2", "polyline"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	read, err := csv.NewReader(strings.NewReader(rows.String())).ReadAll()
	if err != nil || len(read) != 1+10 {
		t.Errorf("%d rows of CSV, error %v, want a head and 5 rounds of two engines", len(read), err)
	}
}
