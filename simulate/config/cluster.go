package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/workload"
)

var presets = []struct{ name, spec string }{
	{"hetero64", "t4:6x4,a100:2x8,rtx:3x8"},     // Sia §3.4.3, Heterogeneous
	{"homog64", "t4:16x4"},                      // Sia §3.4.3, Homogeneous
	{"physical44", "rtx:3x8,a100:2x8,quad:1x4"}, // Sia §3.4.3, Physical
	{"box8", "a100:1x8"},                        // one 8-GPU server
	{"synergy32", "v100:4x8/24c/500g"},          // Synergy §5.1, physical
	{"synergy128", "v100:16x8/24c/500g"},        // Synergy §5.1, simulated
	{"synergy512", "v100:64x8/24c/500g"},        // Synergy §5.3.1
	{"lyra", "v100:443x8,t4:520x8/loan"},        // Lyra §2.1, §7.1
	{"lyra8", "v100:56x8,t4:65x8/loan"},         // an eighth of it
	{"lyra-testbed", "v100:4x8,t4:4x8/loan"},    // Lyra §7.1, Testbed
}

// Clusters returns the names of the predefined clusters.
func Clusters() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// hardware has GiB of memory, watts at full load (data sheets) and rounded on-demand prices per GPU-hour.
var hardware = map[cluster.GPUType]struct {
	memory int64
	power  float64
	price  cluster.Price
}{
	"t4": {16, 70, 0.5}, "rtx": {11, 250, 0.4}, "a100": {40, 400, 3}, "quad": {24, 260, 0.8}, "v100": {16, 300, 2.5},
}

// BuildCluster returns the cluster that the configuration describes.
func (c *Config) BuildCluster() (*cluster.Cluster, error) {
	if c.Scale < 1 {
		return nil, fmt.Errorf("scale %d, want at least 1", c.Scale)
	}
	var nodes []cluster.Node
	for _, part := range c.parts() {
		more, err := parsePart(part, c.Scale)
		if err != nil {
			if part == c.Cluster {
				return nil, fmt.Errorf("cluster %w", err)
			}
			return nil, fmt.Errorf("cluster %q: %w", c.Cluster, err)
		}
		nodes = append(nodes, more...)
	}
	if _, err := c.worths(); err != nil {
		return nil, fmt.Errorf("cluster %q: %w", c.Cluster, err)
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

func (c *Config) parts() []string {
	spec := c.Cluster
	if i := slices.IndexFunc(presets, func(p struct{ name, spec string }) bool { return p.name == spec }); i >= 0 {
		spec = presets[i].spec
	}
	return split(spec)
}

// Equivalents returns, for each GPU type, how many of its GPUs do the work of one requested GPU (job.Spec.Equivalents).
// It omits types with the value 1, and is nil if the cluster is invalid.
func (c *Config) Equivalents() map[cluster.GPUType]int {
	worths, err := c.worths()
	if err != nil {
		return nil
	}
	maps.DeleteFunc(worths, func(_ cluster.GPUType, n int) bool { return n == 1 })
	return worths
}

// worths returns Equivalents, or an error if a GPU type has two values, because jobs do not distinguish owners of
// nodes.
func (c *Config) worths() (map[cluster.GPUType]int, error) {
	of := make(map[cluster.GPUType]int)
	for _, part := range c.parts() {
		_, lease, err := parseLease(part)
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(part, ":")
		t := cluster.GPUType(name)
		if n, said := of[t]; said && n != lease.worth {
			return nil, fmt.Errorf("GPU type %s: %d and %d of its GPUs do the work of one, want one number, as %s:4x8,%s:4x8/loan@1", t, n, lease.worth, t, t)
		}
		of[t] = lease.worth
	}
	return of, nil
}

// maxNodes and maxPerNode (GPUs) limit the effect of typing errors.
const (
	maxNodes   = 1_000_000
	maxPerNode = 1024
)

// parsePart returns the nodes of "t4:6x4", "t4:6x4/24c/500g", "t4:6x4/rack@3", "t4:6x4/rent",
// "t4:6x4/loan" or "t4:6x4/24c/500g/spot@0.1", times scale.
func parsePart(part string, scale int) ([]cluster.Node, error) {
	text, lease, err := parseLease(part)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", part, err)
	}
	text, near, err := parseLevels(text)
	if err == nil && lease.rented && near != (levels{}) {
		err = errors.New("rented nodes may be in any rack, want no /rack and /nvlink")
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", part, err)
	}
	name, size, ok := strings.Cut(text, ":")
	size, rest, says := strings.Cut(size, "/")
	host, err := parseHost(rest)
	if err != nil && says {
		return nil, fmt.Errorf("%q: %w", part, err)
	}
	count, gpus, ok2 := strings.Cut(size, "x")
	n, err1 := strconv.Atoi(count)
	g, err2 := strconv.Atoi(gpus)
	switch {
	case !ok || name == "":
		return nil, fmt.Errorf("%q, want a preset (%s) or a GPU type, nodes and GPUs per node, such as t4:6x4 for 6 nodes of 4 t4 GPUs", part, strings.Join(Clusters(), ", "))
	case !ok2 || errors.Join(err1, err2) != nil || n < 1 || g < 1 || g > maxPerNode || n > maxNodes/scale:
		return nil, fmt.Errorf("%q, want nodes and GPUs per node after %q, such as %s:6x4 for 6 nodes of 4 GPUs", part, name+":", name)
	}
	n *= scale
	width := len(strconv.Itoa(n - 1))
	h := hardware[cluster.GPUType(name)]
	kind := cluster.Node{
		GPUType: cluster.GPUType(name), Capacity: cluster.Resources{GPUs: g, CPUs: host.CPUs, Memory: host.Memory},
		GPUMemory: h.memory << 30, Power: h.power, Price: h.price,
	}
	mark := lease.apply(&kind)
	nodes := make([]cluster.Node, n)
	for i := range nodes {
		nodes[i] = kind
		nodes[i].ID = cluster.NodeID(fmt.Sprintf("%s-%d-%s%0*d", name, g, mark, width, i))
		near.apply(&nodes[i], fmt.Sprintf("%s-%d-%s", name, g, mark), i)
	}
	return nodes, nil
}

type lease struct {
	rented, spot, loaned bool
	interruptions        float64 // per hour, of spot nodes
	worth                int     // job.Spec.Equivalents
}

const spotPercent = 30

// defaultWorth is the number of GPUs on loan that do the work of one. Source: Lyra §7.5, "three
// servers which is equivalent to one training server in computational capability".
const defaultWorth = 3

func parseLease(text string) (rest string, l lease, err error) {
	at := strings.LastIndexByte(text, '/')
	last := text[at+1:]
	l.worth = 1
	kind, number, numbered := strings.Cut(last, "@")
	switch {
	case kind == "spot" && numbered:
		l.rented, l.spot = true, true
		l.interruptions, err = strconv.ParseFloat(number, 64)
		if err != nil || !(l.interruptions >= 0 && l.interruptions <= maxInterruptions) {
			return "", l, fmt.Errorf("%q, want the interruptions of a spot node per hour, 0 to %d, as spot@0.1", last, maxInterruptions)
		}
	case last == "rent":
		l.rented = true
	case kind == "loan":
		l.loaned, l.worth = true, defaultWorth
		if !numbered {
			break
		}
		if l.worth, err = strconv.Atoi(number); err != nil || l.worth < 1 || l.worth > maxWorth {
			return "", l, fmt.Errorf("%q, want the number of loaned GPUs that do the work of one other, 1 to %d, as loan@3", last, maxWorth)
		}
	default:
		return text, l, nil
	}
	return text[:max(at, 0)], l, nil
}

const maxWorth = 1000

const maxInterruptions = 1000

func (l *lease) apply(n *cluster.Node) (mark string) {
	if l.loaned {
		n.Tenure, n.Group = cluster.Loaned, cluster.LoanGroup(n.GPUType, n.Capacity.GPUs)
		return "loan-"
	}
	if !l.rented {
		return ""
	}
	n.Tenure, n.Group = cluster.Rented, cluster.RentGroup(n.GPUType, n.Capacity.GPUs)
	if !l.spot {
		return "rent-"
	}
	n.Group += "-spot"
	n.Interruptions = l.interruptions
	n.Price = n.Price * spotPercent / 100
	return "spot-"
}

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

const maxHost = 1e6

// Location returns the time zone called name, such as "Europe/Berlin", "UTC" or "Local". If name is empty, it returns
// nil.
func Location(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("zone %q, want one like Europe/Berlin, or UTC, or Local", name)
	}
	return zone, nil
}

// Likenesses returns, for each GPU type without profiles, the profiled type that it resembles (key gpu-like).
func (c *Config) Likenesses() ([]workload.Likeness, error) {
	var all []workload.Likeness
	for _, text := range c.Like {
		name, rest, ok := strings.Cut(text, "=")
		cut := strings.LastIndex(rest, "x")
		if !ok || name == "" || cut < 1 {
			return nil, notLike(text)
		}
		speed, err := strconv.ParseFloat(rest[cut+1:], 64)
		if err != nil || !(speed > 0) || math.IsInf(speed, 0) {
			return nil, notLike(text)
		}
		all = append(all, workload.Likeness{Type: cluster.GPUType(name), Like: cluster.GPUType(rest[:cut]), Speed: speed})
	}
	return all, nil
}

func notLike(text string) error {
	return fmt.Errorf("gpu-like %q, want type=profiled type x speed, as h100=a100x2.2", text)
}
