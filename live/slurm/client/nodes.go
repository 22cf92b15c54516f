package client

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

type jsonNode struct {
	Name       string `json:"name"`
	State      texts  `json:"state"`
	Flags      texts  `json:"state_flags"`
	Reason     string `json:"reason"`
	Partitions texts  `json:"partitions"`
	GRES       string `json:"gres"`
	Used       string `json:"gres_used"`
	CPUs       number `json:"cpus"`
	UsedCPUs   number `json:"alloc_cpus"`
	Memory     number `json:"real_memory"`
	UsedMemory number `json:"alloc_memory"`
}

// ParseNodes parses the output of scontrol --json show node, or of sinfo --json in v0.0.37 and v0.0.38. Errors are
// ErrVersion or ErrMalformed.
func ParseNodes(text []byte) ([]Node, error) {
	all, err := decode(text, func(d *document[jsonNode]) *[]jsonNode { return d.Nodes })
	if err != nil {
		return nil, err
	}
	return byName(convert(all, (*jsonNode).node))
}

func byName(nodes []Node, err error) ([]Node, error) {
	if err != nil {
		return nil, err
	}
	slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(nodes); i++ {
		if nodes[i].Name == nodes[i-1].Name {
			return nil, fmt.Errorf("%w: two nodes %q", ErrMalformed, nodes[i].Name)
		}
	}
	return nodes, nil
}

func (s *jsonNode) node() (Node, error) {
	var c checker
	n := Node{
		Name: s.Name, Reason: s.Reason, Partitions: s.Partitions,
		GPUs: c.gpus(s.GRES), Used: c.gpus(s.Used),
		CPUs: c.count(s.CPUs, "cpus"), UsedCPUs: c.count(s.UsedCPUs, "alloc_cpus"),
		Memory: c.integer(s.Memory, "real_memory", 0, mostMegabytes) << 20, UsedMemory: c.integer(s.UsedMemory, "alloc_memory", 0, mostMegabytes) << 20,
	}
	n.setState(append(slices.Clone(s.State), s.Flags...))
	return n, n.check(&c)
}

const mostMegabytes = 1 << 40

var baseStates = []string{"UNKNOWN", "DOWN", "IDLE", "ALLOCATED", "ERROR", "MIXED", "FUTURE"}

func (n *Node) setState(states []string) {
	for _, s := range upper(states) {
		bare := strings.TrimRight(s, "*~#!%$@^-")
		if strings.HasSuffix(s, "*") {
			n.Flags = append(n.Flags, "NOT_RESPONDING")
		}
		switch {
		case slices.Contains(baseStates, bare) && n.State == "":
			n.State = bare
		case bare != "":
			n.Flags = append(n.Flags, bare)
		}
	}
}

func (n *Node) check(c *checker) error {
	if _, err := expanded(n.Name); err != nil || n.State == "" {
		c.keep(fmt.Errorf("%w: name %q, state %q: want both", ErrMalformed, n.Name, n.State))
	}
	return c.of("node", strconv.Quote(n.Name))
}

// ParseNodesText parses the output of scontrol -o show node. Errors are ErrMalformed.
func ParseNodesText(text []byte) ([]Node, error) {
	all, err := records(text, "NodeName", []string{"State", "Gres", "CPUTot", "RealMemory"}, nil)
	if err != nil {
		return nil, err
	}
	return byName(convert(all, (*record).node))
}

func (r *record) node() (Node, error) {
	var c checker
	used, present := r.fields["GresUsed"]
	if !present {
		used = r.get("AllocTRES")
	}
	reason, _, _ := strings.Cut(r.get("Reason"), " [")
	n := Node{
		Name: r.get("NodeName"), Reason: reason, Partitions: listed(r.get("Partitions")),
		GPUs: c.gpus(r.get("Gres")), Used: c.gpus(used),
		CPUs: c.count(c.field(r, "CPUTot"), "CPUTot"), UsedCPUs: c.count(c.field(r, "CPUAlloc"), "CPUAlloc"),
		Memory:     c.integer(c.field(r, "RealMemory"), "RealMemory", 0, mostMegabytes) << 20,
		UsedMemory: c.integer(c.field(r, "AllocMem"), "AllocMem", 0, mostMegabytes) << 20,
	}
	n.setState(strings.Split(r.get("State"), "+"))
	return n, n.check(&c)
}
