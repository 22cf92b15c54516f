package trace

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
)

type kubeNode struct {
	gpuType cluster.GPUType
	gpus    int
}

// typeLabels name the type of a node's GPUs; the first one present counts.
var typeLabels = []string{"nvidia.com/gpu.product", "amd.com/gpu.product-name", "cloud.google.com/gke-accelerator"}

const unnamedType cluster.GPUType = "gpu"

func typeOf(labels map[string]string) cluster.GPUType {
	for _, label := range typeLabels {
		if t := labels[label]; t != "" && !strings.ContainsAny(t, ",:/") {
			return cluster.GPUType(strings.ToLower(t))
		}
	}
	return unnamedType
}

func (d *kubeDump) addNode(o *kubeObject) error {
	const most = 1024
	n := kubeNode{gpuType: typeOf(o.Meta.Labels), gpus: o.Status.Allocatable.gpus()}
	switch {
	case n.gpus > most:
		return fmt.Errorf("%d GPUs, want at most %d", n.gpus, most)
	case d.noteSplit(o, n.gpus):
		return nil
	case n.gpus == 0:
		return nil
	}
	if n.gpuType == unnamedType {
		d.o.Summary.Note("nodes without a label for the GPU type, called " + string(unnamedType))
	}
	if c := o.condition("Ready"); c == nil || c.Status != "True" {
		d.o.Summary.Note("nodes that are not ready, included")
	}
	if err := d.noteReserved(o); err != nil {
		return err
	}
	d.nodes[o.Meta.Name] = n
	d.labels[o.Meta.Name] = maps.Clone(o.Meta.Labels)
	return nil
}

// noteSplit counts a node whose GPUs are shared by time slices or split by MIG. Source: the labels of NVIDIA's GPU
// feature discovery.
func (d *kubeDump) noteSplit(o *kubeObject, gpus int) bool {
	product := o.Meta.Labels["nvidia.com/gpu.product"]
	shares, _ := strconv.Atoi(o.Meta.Labels["nvidia.com/gpu.replicas"]) // 0: no such label
	physical, err := strconv.Atoi(o.Meta.Labels["nvidia.com/gpu.count"])
	var note string
	switch {
	case strings.HasSuffix(product, "-SHARED"), shares > 1, err == nil && gpus > physical:
		note = "nodes whose GPUs are shared by time slices, left out"
	case strings.Contains(product, "-MIG-"):
		note = "nodes whose GPUs are split by MIG, left out"
	case o.Status.Allocatable.parts() != "" && gpus == 0:
		note = "nodes with only parts of GPUs, left out"
	case o.Status.Allocatable.parts() != "":
		d.o.Summary.Note("nodes with whole GPUs and parts of GPUs; only the whole GPUs count")
		return false
	default:
		return false
	}
	d.o.Summary.Note(note)
	d.split[o.Meta.Name] = true
	return true
}

// noteReserved counts a node that not every job may use: cordoned, or with a taint not common to GPU nodes or
// node conditions.
func (d *kubeDump) noteReserved(o *kubeObject) error {
	var spec struct {
		Cordoned bool `json:"unschedulable"`
		Taints   []struct{ Key, Effect string }
	}
	if len(o.Spec) == 0 {
		return nil
	}
	if err := json.Unmarshal(o.Spec, &spec); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	if spec.Cordoned {
		d.o.Summary.Note("cordoned nodes, included")
		return nil
	}
	for _, t := range spec.Taints {
		usual := t.Key == "nvidia.com/gpu" || t.Key == "amd.com/gpu" || strings.HasPrefix(t.Key, "node.kubernetes.io/")
		if t.Effect != "PreferNoSchedule" && !usual {
			d.o.Summary.Note("tainted nodes, open to all jobs in the simulation")
			return nil
		}
	}
	return nil
}

func (d *kubeDump) cluster() string {
	count := make(map[kubeNode]int)
	var kinds []kubeNode
	for _, n := range d.nodes {
		if count[n]++; count[n] == 1 {
			kinds = append(kinds, n)
		}
	}
	slices.SortFunc(kinds, func(a, b kubeNode) int {
		if c := strings.Compare(string(a.gpuType), string(b.gpuType)); c != 0 {
			return c
		}
		return a.gpus - b.gpus
	})
	parts := make([]string, len(kinds))
	for i, n := range kinds {
		parts[i] = fmt.Sprintf("%s:%dx%d", n.gpuType, count[n], n.gpus)
	}
	return strings.Join(parts, ",")
}
