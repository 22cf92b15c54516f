package rig

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// The programs of a cluster, as Process and Options.Flags name them.
const (
	Etcd       = "etcd"
	APIServer  = "kube-apiserver"
	Controller = "kube-controller-manager"
	Scheduler  = "kube-scheduler"
	Kwok       = "kwok"
)

// names are all of them, in the order in which they start.
var names = []string{Etcd, APIServer, Controller, Scheduler, Kwok}

// Options say what a cluster consists of. The zero value is a whole control plane without
// nodes.
type Options struct {
	Bin  string // the directory of the programs; empty: what Build returns
	Logs string // where their output is kept; empty: it is removed with the cluster

	// APIOnly: etcd and API server are all. Nothing schedules, collects garbage or makes
	// pods of Jobs.
	APIOnly bool
	// Lean: what serves the health of nodes is off, and leases are long. 5000 nodes cost
	// what 300 cost else. None of them is ever found to be lost.
	Lean bool
	// History: the API server has etcd forget nothing. Else it does after five minutes, and what
	// was before cannot be audited.
	History bool
	// Gangs: the alpha gates of workload-aware scheduling are on: the Job controller makes Workloads and
	// PodGroups (scheduling.k8s.io/v1alpha2), and kube-scheduler binds the pods of a gang together. The environment
	// variable OXGANG_GANGS turns them on for all clusters but those of Oldest.
	Gangs bool
	// Oldest: API server, controllers and kube-scheduler are of the oldest version that the chart takes.
	Oldest bool
	// Nodes are fake, served by kwok.
	Nodes []Nodes
	// NodeLease is how long a node is taken to live after it was last heard of: whole
	// seconds, at least 4; 0: 40 s. Each node renews four times in that time.
	NodeLease time.Duration

	Flags map[string][]string // more flags, by program
}

// Nodes are fake nodes of one kind, called after Name with a number from 0 on.
type Nodes struct {
	Name   string            // "" : Type in lower case
	Type   string            // the label nvidia.com/gpu.product
	Count  int               // nodes
	GPUs   int               // of each; 0: 8
	CPUs   int               // cores of each; 0: 96
	Memory resource.Quantity // bytes of each; 0: 1 Ti
	Labels map[string]string // more labels
}

// HasGangs reports whether the gates of Options.Gangs are on in the cluster.
func (c *Cluster) HasGangs() bool { return c.options.Gangs }

// everywhere turns Gangs on if the environment says so.
func (o *Options) everywhere() { o.Gangs = o.Gangs || os.Getenv("OXGANG_GANGS") != "" && !o.Oldest }

// maxNodes is how many nodes may serve their health in full: 100 renew ten leases a second.
const maxNodes = 200

// validate returns all that is wrong with o.
func (o *Options) validate() error {
	var all []error
	complain := func(bad bool, format string, args ...any) {
		if bad {
			all = append(all, fmt.Errorf("rig: "+format, args...))
		}
	}
	lease := o.NodeLease
	complain(lease != 0 && (lease < 4*time.Second || lease%time.Second != 0),
		"node lease %s, want whole seconds and at least 4s", lease)
	complain(o.APIOnly && len(o.Nodes) > 0, "nodes of a cluster with an API server only, want none")
	complain(o.Oldest && o.Gangs, "gangs in the oldest version, which has none")
	count := 0
	for i := range o.Nodes {
		n := &o.Nodes[i]
		complain(n.Type == "", "nodes %d have no GPU type", i)
		complain(n.Count < 0 || n.GPUs < 0 || n.CPUs < 0,
			"nodes %s: count %d, GPUs %d, CPUs %d, want none negative", n.Type, n.Count, n.GPUs, n.CPUs)
		count += n.Count
	}
	complain(count > maxNodes && !o.Lean, "%d nodes, want at most %d, or Lean", count, maxNodes)
	for name := range o.Flags {
		complain(!slices.Contains(names, name), "flags of program %q, want one of %v", name, names)
	}
	return errors.Join(all...)
}

// gates are those that Gangs switches on, with what serves their kinds; by program.
var gates = map[string][]string{
	APIServer:  {"--feature-gates", gangGates, "--runtime-config", "scheduling.k8s.io/v1alpha2=true"},
	Controller: {"--feature-gates", gangGates},
	Scheduler:  {"--feature-gates", gangGates},
}

const gangGates = "GenericWorkload=true,GangScheduling=true,WorkloadWithJob=true"

// flags returns those that the options add to a program's.
func (o *Options) flags(program string) []string {
	if !o.Gangs {
		return o.Flags[program]
	}
	return slices.Concat(gates[program], o.Flags[program])
}

// lease returns NodeLease, or what stands for none.
func (o *Options) lease() time.Duration {
	switch {
	case o.NodeLease != 0:
		return o.NodeLease
	case o.Lean:
		return 600 * time.Second
	}
	return 40 * time.Second
}
