package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/cluster"
)

// presets are the clusters of the papers, by name.
var presets = []struct{ name, spec string }{
	{"hetero64", "t4:6x4,a100:2x8,rtx:3x8"},     // Sia §3.4.3, Heterogeneous
	{"homog64", "t4:16x4"},                      // Sia §3.4.3, Homogeneous
	{"physical44", "rtx:3x8,a100:2x8,quad:1x4"}, // Sia §3.4.3, Physical
	{"box8", "a100:1x8"},                        // one 8-GPU server
	{"synergy32", "v100:4x8/24c/500g"},          // Synergy §5.1, physical
	{"synergy128", "v100:16x8/24c/500g"},        // Synergy §5.1, simulated
	{"synergy512", "v100:64x8/24c/500g"},        // Synergy §5.3.1
}

// Clusters returns the names of the presets.
func Clusters() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// hardware are the simple rates of the known GPU types: memory in GiB, watts
// at full load (vendors' data sheets), and an on-demand list price per
// GPU-hour, rounded. GPUs of other types count as free of both.
var hardware = map[cluster.GPUType]struct {
	memory int64
	power  float64
	price  cluster.Price
}{
	"t4": {16, 70, 0.5}, "rtx": {11, 250, 0.4}, "a100": {40, 400, 3}, "quad": {24, 260, 0.8}, "v100": {16, 300, 2.5},
}

// BuildCluster returns the cluster that c describes.
func (c *Config) BuildCluster() (*cluster.Cluster, error) {
	if c.Scale < 1 {
		return nil, fmt.Errorf("scale %d, want at least 1", c.Scale)
	}
	spec := c.Cluster
	if i := slices.IndexFunc(presets, func(p struct{ name, spec string }) bool { return p.name == spec }); i >= 0 {
		spec = presets[i].spec
	}
	var nodes []cluster.Node
	for _, part := range split(spec) {
		more, err := parsePart(part, c.Scale)
		if err != nil {
			return nil, fmt.Errorf("cluster %q: %w", c.Cluster, err)
		}
		nodes = append(nodes, more...)
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("cluster %q: no nodes", c.Cluster)
	}
	built, err := cluster.New(nodes)
	if err != nil {
		return nil, fmt.Errorf("cluster %q: %w", c.Cluster, err)
	}
	return built, nil
}

// maxNodes and maxPerNode, in GPUs, bound what a typing slip may ask for.
const (
	maxNodes   = 1_000_000
	maxPerNode = 1024
)

// parsePart returns the nodes of "t4:6x4" or "t4:6x4/24c/500g", their number
// times scale.
func parsePart(part string, scale int) ([]cluster.Node, error) {
	name, size, ok := strings.Cut(part, ":")
	size, rest, says := strings.Cut(size, "/")
	host, err := parseHost(rest)
	if err != nil && says {
		return nil, fmt.Errorf("%q: %w", part, err)
	}
	count, gpus, ok2 := strings.Cut(size, "x")
	n, err1 := strconv.Atoi(count)
	g, err2 := strconv.Atoi(gpus)
	if !ok || !ok2 || name == "" || errors.Join(err1, err2) != nil || n < 1 || g < 1 || g > maxPerNode || n > maxNodes/scale {
		return nil, fmt.Errorf("%q, want a preset (%s) or type:nodes x GPUs per node, as t4:6x4 or, with CPUs and GB of memory per node, t4:6x4/24c/500g", part, strings.Join(Clusters(), ", "))
	}
	n *= scale
	width := len(strconv.Itoa(n - 1))
	h := hardware[cluster.GPUType(name)]
	nodes := make([]cluster.Node, n)
	for i := range nodes {
		nodes[i] = cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("%s-%d-%0*d", name, g, width, i)), GPUType: cluster.GPUType(name),
			Capacity: cluster.Resources{GPUs: g, CPUs: host.CPUs, Memory: host.Memory}, GPUMemory: h.memory << 30, Power: h.power, Price: h.price,
		}
	}
	return nodes, nil
}

// parseHost returns the CPU cores and the memory, in 10^9 bytes, of "24c/500g".
func parseHost(text string) (cluster.Resources, error) {
	cores, size, _ := strings.Cut(text, "/")
	c, ok1 := strings.CutSuffix(cores, "c")
	g, ok2 := strings.CutSuffix(size, "g")
	cpus, err1 := strconv.ParseFloat(c, 64)
	gigabytes, err2 := strconv.ParseFloat(g, 64)
	if !ok1 || !ok2 || errors.Join(err1, err2) != nil || !(cpus > 0 && cpus <= maxHost && gigabytes > 0 && gigabytes <= maxHost) {
		return cluster.Resources{}, fmt.Errorf("%q, want CPU cores and GB of memory of a node, as 24c/500g", text)
	}
	return cluster.Resources{CPUs: cpus, Memory: int64(gigabytes * 1e9)}, nil
}

// maxHost bounds cores and GB of a node.
const maxHost = 1e6
