package perf_test

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// A golden row is one call of the batch-size search of the public Sia code.
type golden struct {
	line    int
	model   fitted
	limits  job.BatchLimits
	alloc   cluster.Allocation
	goodput float64
	want    job.BatchSize
}

func TestBestBatch_agrees_with_the_public_code(t *testing.T) {
	rows := readGolden(t)
	for _, g := range rows {
		got, b := perf.BestBatch(&g.model, g.alloc, g.alloc.GPUs, &g.limits)
		if math.Abs(got/g.goodput-1) > 1e-6 {
			t.Errorf("line %d: goodput %.9g, want %.9g", g.line, got, g.goodput)
		}
		if want := perf.Goodput(&g.model, g.alloc, g.alloc.GPUs, g.want); b != g.want && math.Abs(got/want-1) > 1e-12 {
			t.Errorf("line %d: batch %+v, want %+v", g.line, b, g.want)
		}
	}
	t.Logf("%d searches", len(rows))
}

func readGolden(t testing.TB) []golden {
	params := readParams(t)
	file, err := os.Open(testdata.Path(t, "sia/golden/goodput_optimize.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil || len(records) < 2 {
		t.Fatalf("read %s: %d records: %v", file.Name(), len(records), err)
	}
	var rows []golden
	for i, record := range records[1:] {
		row := make(map[string]float64)
		for j, name := range records[0] {
			if row[name], err = strconv.ParseFloat(record[j], 64); err != nil && name != "application" && name != "gpu_type" {
				t.Fatalf("line %d: %s: %v", i+2, name, err)
			}
		}
		if row["tune_bsz"] != 1 {
			t.Fatalf("line %d: tune_bsz %g, want 1", i+2, row["tune_bsz"])
		}
		rows = append(rows, toGolden(i+2, row, cluster.GPUType(record[2]), params))
	}
	return rows
}

func toGolden(line int, row map[string]float64, gpu cluster.GPUType, params []perf.Params) golden {
	n := func(name string) int { return int(row[name]) }
	init := row["init_batch_size"]
	return golden{
		line:  line,
		model: fitted{params[n("fit_id")], init * row["grad_var"] / row["grad_sqr"], init},
		limits: job.BatchLimits{
			Init: n("init_batch_size"), Max: n("max_batch_size"),
			LocalMin: n("min_local_bsz"), LocalMax: map[cluster.GPUType]int{gpu: n("max_local_bsz")},
		},
		alloc:   on(n("num_nodes"), n("num_replicas"), gpu),
		goodput: row["goodput"],
		want:    job.BatchSize{Local: n("atomic_bsz"), Accumulation: n("accum_steps")},
	}
}

func readParams(t testing.TB) []perf.Params {
	file, err := os.Open(testdata.Path(t, "sia/golden/fit_perf_params.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []perf.Params
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var fit struct {
			ID     int `json:"fit_id"`
			Params [7]float64
		}
		if err := json.Unmarshal(lines.Bytes(), &fit); err != nil || fit.ID != len(all) {
			t.Fatalf("%s: fit %d of ID %d: %v", file.Name(), len(all), fit.ID, err)
		}
		p := fit.Params
		all = append(all, perf.Params{AlphaC: p[0], BetaC: p[1], AlphaN: p[2], BetaN: p[3], AlphaR: p[4], BetaR: p[5], Gamma: p[6]})
	}
	return all
}
