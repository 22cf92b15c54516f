package estimate

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/perf"
)

type golden struct {
	FitID       int `json:"fit_id"`
	Application string
	GPUType     string    `json:"gpu_type"`
	Nodes       []int     `json:"num_nodes"`
	Replicas    []int     `json:"num_replicas"`
	Local       []int     `json:"atomic_bsz"`
	Compute     []float64 `json:"accum_step_time"`
	Step        []float64 `json:"optim_step_time"`
	Params      vector
	Objective   float64
}

func (g *golden) observations() []perf.Observation {
	obs := make([]perf.Observation, len(g.Nodes))
	for i := range obs {
		obs[i] = perf.Observation{Nodes: g.Nodes[i], Replicas: g.Replicas[i], Local: g.Local[i], Compute: g.Compute[i], Step: g.Step[i]}
	}
	return obs
}

func readGolden(t testing.TB) []golden {
	file, err := os.Open(testdata.Path(t, "sia/golden/fit_perf_params.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []golden
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var g golden
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	return all
}
