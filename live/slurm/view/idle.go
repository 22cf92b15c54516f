package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

type cause string

// The causes.
const (
	down       cause = "down"       // or taken out by an administrator
	Drained    cause = "drained"    // starts no jobs
	reserved   cause = "reserved"   // reserved for others or for maintenance
	unwanted   cause = "unwanted"   // no job that may start waits for them
	CPUs       cause = "cpus"       // too few are free for each waiting job
	Memory     cause = "memory"     // too little is free for each waiting job
	fragmented cause = "fragmented" // each waiting job needs more GPUs on one node than are free
	planned    cause = "planned"    // Slurm has reserved the node for a job of higher priority
	wanted     cause = "wanted"     // a waiting job would fit, but Slurm has not started it yet
)

func nodes(l *Look) (all []status.Node) {
	held := make(map[string][]status.Holder)
	for i := range l.Jobs {
		for _, h := range l.Jobs[i].HeldGPUs {
			held[h.Node] = append(held[h.Node], status.Holder{Job: job.ID(l.Jobs[i].Label()), GPUs: h.GPUs.Total()})
		}
	}
	for i := range l.Nodes {
		n := &l.Nodes[i]
		total, used := n.GPUs.Total(), n.Used.Total()
		if total == 0 {
			continue
		}
		v := status.Node{Name: n.Name, Type: cluster.GPUType(strings.Join(named(n.GPUs), "+")), GPUs: total, Used: used, Held: held[n.Name]}
		_, v.Closed = l.closed(n)
		if used < total {
			cause, why := l.cause(n, total-used)
			v.Cause, v.Idle = string(cause), why
		}
		all = append(all, v)
	}
	return all
}

func (l *Look) cause(n *client.Node, free int) (cause, string) {
	if cause, why := l.closed(n); cause != "" {
		return cause, why
	}
	var wants []demand
	kept := 0
	for i := range l.Jobs {
		j := &l.Jobs[i]
		d := demandOf(j)
		if !j.Waits() || d.gpus == 0 || !l.suits(j, n) {
			continue
		}
		if !startable(j) {
			kept++
			continue
		}
		wants = append(wants, d)
	}
	if len(wants) == 0 {
		if kept > 0 {
			return unwanted, fmt.Sprintf("%s for them, but none may start: see their reasons", count(kept, "job waits", "jobs wait"))
		}
		return unwanted, "no job waits for them"
	}
	return tightest(n, free, wants)
}

func (l *Look) closed(n *client.Node) (cause, string) {
	said := ""
	if n.Reason != "" {
		said = ": " + n.Reason
	}
	drained := slices.ContainsFunc(n.Flags, func(f string) bool { return strings.HasPrefix(f, "DRAIN") })
	switch {
	case n.State == "DOWN" || slices.Contains(n.Flags, "NOT_RESPONDING"):
		return down, "the node is down" + said
	case drained:
		return Drained, "the node is drained" + said
	case !n.Usable():
		return down, "the node is " + strings.ToLower(strings.Join(append([]string{n.State}, n.Flags...), ", ")) + said
	}
	for i := range l.Reservations {
		if v := &l.Reservations[i]; v.Active() && slices.Contains(v.Nodes, n.Name) {
			return reserved, "reservation " + v.Name + keeps(v)
		}
	}
	return "", ""
}

func keeps(v *client.Reservation) string {
	who := ""
	if slices.Contains(v.Flags, "MAINT") {
		who = " for maintenance"
	} else if all := append(slices.Clone(v.Users), v.Accounts...); len(all) > 0 {
		who = " for " + strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s until %s", who, v.End.Format("2006-01-02 15:04 MST"))
}

type demand struct {
	label  string
	gpus   int
	cpus   int
	memory int64 // bytes
}

func demandOf(j *client.Job) demand {
	nodes := max(j.Needed, 1)
	d := demand{label: j.Label(), gpus: j.PerNode.Total(), cpus: j.CPUs / nodes, memory: j.Memory / int64(nodes)}
	if d.gpus == 0 {
		d.gpus = (j.GPUs.Total() + nodes - 1) / nodes
	}
	return d
}

func startable(j *client.Job) bool {
	switch bare(j.Reason) {
	case "", "None", "Resources", "Priority", "ReqNodeNotAvail", "NodeDown", "Reservation", "Licenses":
		return !j.IsHeld()
	}
	return false
}

func (l *Look) suits(j *client.Job, n *client.Node) bool {
	if !slices.ContainsFunc(strings.Split(j.Partition, ","), func(p string) bool { return slices.Contains(n.Partitions, p) }) {
		return false
	}
	for _, kind := range named(j.GPUs) {
		if n.GPUs[kind] == 0 {
			return false
		}
	}
	if slices.Contains(j.Excluded, n.Name) || len(j.ReqNodes) >= max(j.Needed, 1) && !slices.Contains(j.ReqNodes, n.Name) {
		return false
	}
	return true
}

func tightest(n *client.Node, free int, wants []demand) (cause, string) {
	cpus, memory := n.CPUs-n.UsedCPUs, n.Memory-n.UsedMemory
	least := slices.MinFunc(wants, func(a, b demand) int { return a.gpus - b.gpus })
	if least.gpus > free {
		return fragmented, fmt.Sprintf("%d free; job %s, the smallest that waits, needs %d GPUs on one node", free, least.label, least.gpus)
	}
	fit := slices.DeleteFunc(slices.Clone(wants), func(d demand) bool { return d.gpus > free })
	if d := slices.MinFunc(fit, func(a, b demand) int { return a.cpus - b.cpus }); d.cpus > cpus {
		return CPUs, fmt.Sprintf("%s free; job %s needs %d", count(cpus, "CPU is", "CPUs are"), d.label, d.cpus)
	}
	if d := slices.MinFunc(fit, func(a, b demand) int { return int(min(max(a.memory-b.memory, -1), 1)) }); d.memory > memory {
		return Memory, fmt.Sprintf("%d MiB of memory are free; job %s needs %d", memory>>20, d.label, d.memory>>20)
	}
	if slices.Contains(n.Flags, "PLANNED") {
		return planned, "Slurm keeps the node for a job of higher priority; shorter jobs may still be backfilled"
	}
	return wanted, fmt.Sprintf("job %s would fit here, but it is not its turn, or it needs more nodes", fit[0].label)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
