package sim_test

import (
	"math"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/sim"
)

// Nodes on loan do not count, and each type has the GPUs that do the work of those asked for.
func TestFits_with_nodes_on_loan(t *testing.T) {
	gpus := cluster.Resources{GPUs: 8}
	c, err := cluster.New([]cluster.Node{
		{ID: "a", GPUType: "v100", Capacity: gpus},
		{ID: "b", GPUType: "k80", Capacity: gpus},
		{ID: "c", GPUType: "k80", Capacity: gpus},
		{ID: "d", GPUType: "t4", Capacity: gpus, Tenure: cluster.Loaned, Group: "t4"},
		{ID: "e", GPUType: "v100", Capacity: gpus, Tenure: cluster.Loaned, Group: "v100"},
	})
	if err != nil {
		t.Fatal(err)
	}
	k80, t4 := []cluster.GPUType{"k80"}, []cluster.GPUType{"t4"}
	half := map[cluster.GPUType]int{"k80": 2}
	for name, tc := range map[string]struct {
		spec job.Spec
		want string // in the error; empty: it fits
	}{
		"on its own nodes":           {job.Spec{GPUs: 16, GPUTypes: k80}, ""},
		"on loan only":               {job.Spec{GPUs: 8, GPUTypes: t4}, "the training cluster has no GPU type that it may use"},
		"with a node on loan":        {job.Spec{GPUs: 16, GPUTypes: []cluster.GPUType{"v100"}}, "needs 16 GPUs of one eligible type, can get at most 8 of the training cluster"},
		"equivalents":                {job.Spec{GPUs: 8, GPUTypes: k80, Equivalents: half}, ""},
		"equivalents, too many":      {job.Spec{GPUs: 9, GPUTypes: k80, Equivalents: half}, "needs 18 GPUs"},
		"elastic":                    {job.Spec{GPUs: 4, MinGPUs: 4, MaxGPUs: 8, GPUTypes: k80, Equivalents: half, Adaptivity: job.StrongScaling}, ""},
		"elastic, least too many":    {job.Spec{GPUs: 9, MinGPUs: 9, MaxGPUs: 18, GPUTypes: k80, Equivalents: half, Adaptivity: job.StrongScaling}, "needs 18 GPUs"},
		"elastic, least above most":  {job.Spec{GPUs: 4, MinGPUs: 4, MaxGPUs: 2, Adaptivity: job.StrongScaling}, "needs 4 GPUs of one eligible type, can get at most 2"},
		"workers":                    {job.Spec{GPUs: 16, WorkerGPUs: 8}, ""},
		"worker larger than a node":  {job.Spec{GPUs: 16, WorkerGPUs: 16}, "a worker needs 16 GPUs of one node, the largest of the training cluster that it may use has 8"},
		"workers that share no node": {job.Spec{GPUs: 15, WorkerGPUs: 5}, "needs 15 GPUs of one eligible type, can get at most 10"},
		"reserved on loan":           {job.Spec{Reservation: cluster.Configuration{Nodes: 1, GPUs: 8, GPUType: "t4"}}, "reserves (1, 8, t4), which the training cluster does not have for it"},
		"reserved":                   {job.Spec{Reservation: cluster.Configuration{Nodes: 2, GPUs: 16, GPUType: "k80"}}, ""},
	} {
		err := sim.Fits(c, &tc.spec)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

// CPUs and memory that a job asks for are those of all its GPUs: nodes that say what they have
// must be able to have them, as many nodes as the job can be on.
func TestFits_by_CPUs_and_memory(t *testing.T) {
	const gb = 1_000_000_000
	c, err := cluster.New([]cluster.Node{
		{ID: "a", GPUType: "v100", Capacity: cluster.Resources{GPUs: 4, CPUs: 8, Memory: 64 * gb}},
		{ID: "b", GPUType: "v100", Capacity: cluster.Resources{GPUs: 4, CPUs: 16, Memory: 32 * gb}},
		{ID: "c", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4, CPUs: 96, Memory: 512 * gb}, Tenure: cluster.Loaned, Group: "t4"},
	})
	if err != nil {
		t.Fatal(err)
	}
	silent, err := cluster.New([]cluster.Node{{ID: "a", GPUType: "v100", Capacity: cluster.Resources{GPUs: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		c    *cluster.Cluster
		spec job.Spec
		want string // in the error; empty: it fits
	}{
		"all of a node's cores":     {c, job.Spec{GPUs: 1, CPUs: 16}, ""},
		"a core too many":           {c, job.Spec{GPUs: 1, CPUs: 17}, "job j: requests 17 CPUs and 0 bytes of memory, nodes of the training cluster have at most 16 and 64000000000 for its 1 GPUs of v100"},
		"all of a node's memory":    {c, job.Spec{GPUs: 1, Memory: 64 * gb}, ""},
		"a byte too many":           {c, job.Spec{GPUs: 1, Memory: 64*gb + 1}, "64000000001 bytes"},
		"two nodes":                 {c, job.Spec{GPUs: 2, CPUs: 24, Memory: 96 * gb}, ""},
		"two nodes, too many":       {c, job.Spec{GPUs: 2, CPUs: 25}, "at most 24 and 96000000000 for its 2 GPUs"},
		"one worker is on one node": {c, job.Spec{GPUs: 2, WorkerGPUs: 2, CPUs: 17}, "at most 16 and 64000000000"},
		"without end":               {c, job.Spec{GPUs: 1, CPUs: 1e6, Memory: math.MaxInt64}, "requests 1e+06 CPUs and 9223372036854775807 bytes"},
		"elastic":                   {c, job.Spec{GPUs: 1, MinGPUs: 1, MaxGPUs: 8, Adaptivity: job.StrongScaling, CPUs: 24}, ""},
		"elastic, on one GPU":       {c, job.Spec{GPUs: 1, MinGPUs: 1, MaxGPUs: 1, Adaptivity: job.StrongScaling, CPUs: 24}, "at most 16"},
		"reserved":                  {c, job.Spec{GPUs: 8, CPUs: 24, Reservation: cluster.Configuration{Nodes: 2, GPUs: 8, GPUType: "v100"}}, ""},
		"reserved, too many":        {c, job.Spec{GPUs: 4, CPUs: 24, Reservation: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "v100"}}, "at most 16 and 64000000000 for its 4 GPUs"},
		"nodes that do not say":     {silent, job.Spec{GPUs: 1, CPUs: 1e6, Memory: math.MaxInt64}, ""},
	} {
		tc.spec.ID = "j"
		err := sim.Fits(tc.c, &tc.spec)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}
