package goodput

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

type configuration struct {
	cluster.Configuration
	resource int // index of its GPU type, the coupling resource it uses
	host     host
}

type host struct{ cpus, memory int }

func (h host) counts() bool { return h.cpus > 0 }

func (h host) uses(cpus float64, memory int64) []mmkp.Use {
	return []mmkp.Use{{Resource: h.cpus, Amount: cpus}, {Resource: h.memory, Amount: float64(memory) / gib}}
}

// gib is the unit of memory in the program. Amounts are then about as large as CPUs, and a power of two loses no
// precision.
const gib = 1 << 30

// resources are the coupling resources of a cluster, which its jobs share: GPUs of each type, and CPUs and memory of the
// types that count them.
type resources struct {
	cluster *cluster.Cluster // nil before the first round
	columns []configuration
	runs    [][]configuration // columns of one GPU type each, by GPUs
	hosts   []host            // by GPU type
	prices  []float64         // of each resource in the last plan
	free    []float64         // what this round's plan leaves free of each resource; of CPUs and memory not known

	sets     []nodeSet // resources from firstSet on
	setOf    map[partKey][]int
	firstSet int
}

func (p *Program) meet(s *policy.Snapshot) error {
	c, found := s.Cluster, findSets(s)
	p.setOf = found.seen
	sameSets := slices.EqualFunc(found.sets, p.sets, sameSet)
	sameNodes := p.cluster == c
	if sameNodes && sameSets {
		return nil
	}
	p.sets = found.sets
	capacity, hosts := p.couple(c)
	same := sameSets && p.engine != nil && slices.Equal(hosts, p.hosts) &&
		slices.EqualFunc(p.cluster.Types(), c.Types(), func(a, b cluster.TypeInfo) bool { return a.Type == b.Type })
	if err := p.setCapacity(capacity, same); err != nil {
		return err
	}
	p.cluster = c
	p.list(hosts)
	for _, r := range p.rows {
		r.laid, r.item.filed = r.laid && sameNodes, r.item.filed && same
	}
	return nil
}

func (rs *resources) list(hosts []host) {
	rs.hosts, rs.columns = hosts, rs.columns[:0]
	for _, conf := range rs.cluster.Configurations() {
		k := rs.resource(conf.GPUType)
		rs.columns = append(rs.columns, configuration{conf, k, hosts[k]})
	}
	rs.runs = runsOf(rs.columns)
}

func runsOf(columns []configuration) (runs [][]configuration) {
	first := 0
	for i := 1; i <= len(columns); i++ {
		if i == len(columns) || columns[i].resource != columns[first].resource || columns[i].GPUs <= columns[i-1].GPUs {
			runs = append(runs, columns[first:i])
			first = i
		}
	}
	return runs
}

func (p *Program) setCapacity(capacity []float64, same bool) error {
	if !same {
		e, err := engine.New(p.o.Solver, capacity, engine.Options{Ties: p.o.Ties})
		if err != nil {
			return err
		}
		p.engine, p.items, p.numbers, p.prices = e, 0, nil, nil
		return nil
	}
	for k, b := range capacity {
		if err := p.engine.SetCapacity(k, b); err != nil {
			return err
		}
	}
	return nil
}

// couple returns the capacities of the coupling resources, and the host of each type: GPUs of all types, then CPUs,
// then memory of the types that count them, then GPUs of the node sets.
func (p *Program) couple(c *cluster.Cluster) (capacity []float64, hosts []host) {
	capacity, hosts = couple(c.Types(), p.o.Cells)
	p.firstSet = len(capacity)
	for k := range p.sets {
		capacity = append(capacity, p.sets[k].gpus)
	}
	return capacity, hosts
}

func couple(types []cluster.TypeInfo, cells bool) (capacity []float64, hosts []host) {
	hosts = make([]host, len(types))
	for _, t := range types {
		capacity = append(capacity, float64(t.GPUs))
	}
	for k, t := range types {
		if cells && t.Counts() {
			hosts[k].cpus = len(capacity)
			capacity = append(capacity, t.CPUs)
		}
	}
	for k, t := range types {
		if cells && t.Counts() {
			hosts[k].memory = len(capacity)
			capacity = append(capacity, float64(t.Memory)/gib)
		}
	}
	return capacity, hosts
}

func (rs *resources) resource(t cluster.GPUType) int {
	return slices.IndexFunc(rs.cluster.Types(), func(info cluster.TypeInfo) bool { return info.Type == t })
}

func (rs *resources) fungible() bool { return slices.ContainsFunc(rs.hosts, host.counts) }

func (rs *resources) typePrices() []policy.TypePrice {
	var prices []policy.TypePrice
	for k, t := range rs.cluster.Types() {
		price := policy.TypePrice{Type: t.Type, Price: rs.prices[k]}
		if h := rs.hosts[k]; h.counts() {
			price.CPU, price.Memory = rs.prices[h.cpus], rs.prices[h.memory]*1e9/gib
		}
		prices = append(prices, price)
	}
	return prices
}
