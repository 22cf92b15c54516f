package rig

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Programs of a cluster, as in Process and Options.Flags.
const (
	Etcd       = "etcd"
	APIServer  = "kube-apiserver"
	Controller = "kube-controller-manager"
	Scheduler  = "kube-scheduler"
	Kwok       = "kwok"
)

var names = []string{Etcd, APIServer, Controller, Scheduler, Kwok}

// Options configure a cluster. The zero value is a complete control plane without nodes.
type Options struct {
	Bin  string // empty: from Build
	Logs string // empty: removed with the cluster

	// APIOnly starts only etcd and the API server.
	APIOnly bool
	// Lean disables node health checks and uses long leases, for thousands of nodes. Lost nodes are never
	// detected.
	Lean bool
	// History disables etcd's compaction, which otherwise removes history after five minutes.
	History bool
	// Gangs enables the alpha gates of workload-aware scheduling: the Job controller creates Workloads and
	// PodGroups, and kube-scheduler binds the pods of a gang together. The environment variable OXGANG_GANGS
	// enables it for all clusters except Oldest ones.
	Gangs bool
	// Oldest uses the oldest Kubernetes version that the chart supports.
	Oldest bool
	// Nodes are fake nodes, served by kwok.
	Nodes []Nodes
	// NodeLease is how long a node counts as alive after its last renewal: whole seconds, at least 4; 0: 40 s.
	NodeLease time.Duration

	Flags map[string][]string // additional flags by program
}

// Nodes are fake nodes of one kind. Their names are Name and a number from 0.
type Nodes struct {
	Name   string // empty: Type in lower case
	Type   string // label nvidia.com/gpu.product
	Count  int
	GPUs   int               // per node; 0: 8
	CPUs   int               // cores per node; 0: 96
	Memory resource.Quantity // bytes per node; 0: 1 Ti
	Labels map[string]string // additional labels
}

// HasGangs reports whether Options.Gangs is on.
func (c *Cluster) HasGangs() bool { return c.options.Gangs }

func (o *Options) everywhere() { o.Gangs = o.Gangs || os.Getenv("OXGANG_GANGS") != "" && !o.Oldest }

// maxNodes is the limit without Lean: 100 nodes renew ten leases a second.
const maxNodes = 200

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
	complain(o.APIOnly && len(o.Nodes) > 0, "APIOnly excludes nodes")
	complain(o.Oldest && o.Gangs, "Oldest excludes Gangs")
	count := 0
	for i := range o.Nodes {
		n := &o.Nodes[i]
		complain(n.Type == "", "nodes %d have no GPU type", i)
		complain(n.Count < 0 || n.GPUs < 0 || n.CPUs < 0,
			"nodes %s: count %d, GPUs %d, CPUs %d, want none negative", n.Type, n.Count, n.GPUs, n.CPUs)
		count += n.Count
	}
	complain(count > maxNodes && !o.Lean, "%d nodes, want at most %d without Lean", count, maxNodes)
	for name := range o.Flags {
		complain(!slices.Contains(names, name), "flags of program %q, want one of %v", name, names)
	}
	return errors.Join(all...)
}

var gates = map[string][]string{
	APIServer:  {"--feature-gates", gangGates, "--runtime-config", "scheduling.k8s.io/v1alpha2=true"},
	Controller: {"--feature-gates", gangGates},
	Scheduler:  {"--feature-gates", gangGates},
}

const gangGates = "GenericWorkload=true,GangScheduling=true,WorkloadWithJob=true"

func (o *Options) flags(program string) []string {
	if !o.Gangs {
		return o.Flags[program]
	}
	return slices.Concat(gates[program], o.Flags[program])
}

func (o *Options) lease() time.Duration {
	switch {
	case o.NodeLease != 0:
		return o.NodeLease
	case o.Lean:
		return 600 * time.Second
	}
	return 40 * time.Second
}
