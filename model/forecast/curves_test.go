package forecast_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/forecast"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// A curve is a load curve, cut into what models learn from and what they are
// tested on.
type curve struct {
	name         string
	day          int // values
	past, unseen []float64
}

// cut returns a curve of which the first part is learned from.
func cut(name string, day int, busy []float64, learned int) curve {
	return curve{name, day, busy[:learned], busy[learned:]}
}

// lyraCurves are the shared curves made after Lyra's: ten days to learn from and
// five, 1440 values as in the paper, to test on.
func lyraCurves(t testing.TB) []curve {
	var all []curve
	for _, kind := range []string{"full", "eighth"} {
		files, err := filepath.Glob(filepath.Join(testdata.Path(t, "traces/lyra_synth"), "infer_"+kind+"_seed*.csv.gz"))
		if err != nil || len(files) != 5 {
			t.Fatalf("%d files of kind %s, %v, want 5", len(files), kind, err)
		}
		for i, path := range files {
			all = append(all, cut(fmt.Sprintf("%s%d", kind, i+1), 288, readLoad(t, path), 10*288))
		}
	}
	return all
}

// otherCurves are measured: Alibaba's GenAI inference cluster, 22.8 hours of
// which two thirds are learned from, and 17 days of its GPU-hours of busy GPUs
// per hour; and the GPU instances of its recommendation models, 22 days. The
// latter two are shares of their maximum.
func otherCurves(t testing.TB) []curve {
	five := readLoad(t, testdata.Path(t, "traces/alibaba_genai2026/gpu_busy_5min.csv"))
	hours := column(t, testdata.Path(t, "traces/alibaba_genai2026/requests_hourly_days00_16.csv"), 2)
	flat := column(t, testdata.Path(t, "traces/alibaba_dlrm2025/gpu_instances_hourly_days00_21.csv"), 1)
	return []curve{
		cut("genai", 288, five, len(five)*2/3),
		cut("genai-hourly", 24, hours, 12*24),
		cut("dlrm-hourly", 24, flat, 15*24),
	}
}

func readLoad(t testing.TB, path string) []float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := parse.ReadLoad(f, filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	return l.Busy
}

// column returns the numbers of a column of a CSV file, divided by the largest.
func column(t testing.TB, path string, i int) []float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []float64
	for _, row := range rows[1:] {
		x, err := strconv.ParseFloat(row[i], 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	most := slices.Max(all)
	for i := range all {
		all[i] /= most
	}
	return all
}

// models are those that need no training, by name.
var models = []struct {
	name string
	make func(day int) forecast.Model
}{
	{"last", func(day int) forecast.Model { return forecast.NewLast(day) }},
	{"seasonal-naive", func(day int) forecast.Model { return forecast.NewSeasonalNaive(day) }},
	{"seasonal", func(day int) forecast.Model { return forecast.NewSeasonal(day) }},
}

func shown(m forecast.Model, past []float64) forecast.Model {
	for _, busy := range past {
		m.Observe(busy)
	}
	return m
}
