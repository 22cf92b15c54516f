// Package observe turns what Slurm says of its jobs and nodes into what a scheduler of one partition
// has to know: which jobs take part, and which GPUs are left to them. It is a pure function.
package slurm

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/comment"
	"github.com/oxgang/oxgang/model/cluster"
)

// Bounds say which jobs may take part. Nothing is done to any other job.
type Bounds struct {
	Partition string   // of the jobs, by name
	Accounts  []string // of the jobs; empty: any
}

// A Job is one that takes part, or asks to.
type Job struct {
	client.Job
	comment.Request
	Mark          comment.Mark
	Configuration cluster.Configuration // the GPUs that it holds; zero: none
	Placement     cluster.Placement     // on these nodes
	// Trouble says why a job that asks to take part does not, for people; empty: it does.
	Trouble string
}

// Takes reports whether the job takes part.
func (j *Job) Takes() bool { return j.Trouble == "" }

// An Observation is what Slurm shows of a partition at one time.
type Observation struct {
	At time.Time
	// Jobs take part, or ask to, and have not ended; by number.
	Jobs []Job
	// Others are the jobs of the partition that wait and take no part, those that ask to among them.
	Others []client.Job
	// Ended are jobs that took part and have ended, as long as Slurm remembers them.
	Ended []Job
	// Load are the jobs that take no part and hold GPUs, of whatever partition; by number.
	Load []Job
	// Nodes are those of the partition with GPUs, by name. One on which Slurm starts nothing has the
	// GPUs that jobs hold there.
	Nodes []cluster.Node
	// Left says, for people, which nodes with GPUs are not used, and why.
	Left []string
	// Epoch is the highest in the mark of any job of the partition; 0: none.
	Epoch int64
}

// Observe returns what jobs and nodes say at a time. Complexity: linear in jobs and nodes, but for
// sorting.
func Observe(at time.Time, jobs []client.Job, nodes []client.Node, b *Bounds) *Observation {
	o := &Observation{At: at}
	types := map[string]string{}
	for i := range nodes {
		types[nodes[i].Name] = strings.Join(nodes[i].GPUs.Types(), "+")
	}
	for i := range jobs {
		o.add(&jobs[i], b, types)
	}
	for _, all := range [][]Job{o.Jobs, o.Load} {
		slices.SortFunc(all, func(a, b Job) int { return cmp.Compare(a.ID, b.ID) })
	}
	held := o.held(o.Jobs, o.Load)
	for i := range nodes {
		o.node(&nodes[i], b, held)
	}
	slices.SortFunc(o.Nodes, func(a, b cluster.Node) int { return cmp.Compare(a.ID, b.ID) })
	return o
}

// held returns how many GPUs jobs hold, by node.
func (*Observation) held(lists ...[]Job) map[cluster.NodeID]int {
	sum := map[cluster.NodeID]int{}
	for _, jobs := range lists {
		for i := range jobs {
			for _, s := range jobs[i].Placement {
				sum[s.Node] += s.GPUs
			}
		}
	}
	return sum
}

// Shared returns the nodes with the GPUs that Load leaves; none that has no GPU left.
func (o *Observation) Shared() []cluster.Node {
	load := o.held(o.Load)
	var all []cluster.Node
	for _, n := range o.Nodes {
		if n.Capacity.GPUs -= load[n.ID]; n.Capacity.GPUs > 0 {
			all = append(all, n)
		}
	}
	return all
}

// Free returns how many GPUs no job holds, by node.
func (o *Observation) Free() map[cluster.NodeID]int {
	held, free := o.held(o.Jobs, o.Load), map[cluster.NodeID]int{}
	for i := range o.Nodes {
		free[o.Nodes[i].ID] = o.Nodes[i].Capacity.GPUs - held[o.Nodes[i].ID]
	}
	return free
}

// add takes up a job. types are those of the GPUs of each node.
func (o *Observation) add(c *client.Job, b *Bounds, types map[string]string) {
	j, asks := read(c)
	j.holds(types)
	if c.Partition != b.Partition {
		if j.Configuration.GPUs > 0 {
			o.Load = append(o.Load, j)
		}
		return
	}
	o.Epoch = max(o.Epoch, j.Mark.Epoch)
	if asks && j.Trouble == "" {
		j.Trouble = trouble(&j, b)
	}
	takes, over := asks && j.Takes(), !c.Waits() && !c.Holds()
	switch {
	case over && takes:
		o.Ended = append(o.Ended, j)
	case over:
	case asks:
		o.Jobs = append(o.Jobs, j)
	}
	switch {
	case takes:
	case c.Waits():
		o.Others = append(o.Others, *c)
	case j.Configuration.GPUs > 0:
		o.Load = append(o.Load, j)
	}
}

// read returns a job with its comments, and whether it asks to take part, or did.
func read(c *client.Job) (j Job, asks bool) {
	j.Job = *c
	request, err := comment.ParseRequest(c.Comment)
	mark, markErr := comment.ParseMark(c.AdminComment)
	j.Request, j.Mark = request, mark
	if err == nil && request.Part == comment.None {
		j.Trouble = "its comment does not ask to take part any more"
		return j, mark != comment.Mark{}
	}
	if err = errors.Join(err, markErr); err != nil {
		j.Trouble = err.Error()
	}
	return j, true
}

// trouble says why a job cannot take part; empty: it can.
func trouble(j *Job, b *Bounds) string {
	switch {
	case len(b.Accounts) > 0 && !slices.Contains(b.Accounts, j.Account):
		return fmt.Sprintf("account %s, want %s", j.Account, strings.Join(b.Accounts, " or "))
	case j.Tasks != "":
		return "it is an array of which tasks wait: tasks take part once they run by themselves"
	case j.Het != 0:
		return "it is a part of a heterogeneous job"
	case Wants(j.Job) == 0:
		return "it asks for no GPUs"
	case len(j.GPUs) > 1 || len(j.PerNode) > 1:
		return "it asks for GPUs of several types: " + cmp.Or(j.GPUs.String(), j.PerNode.String())
	case j.Part == comment.Elastic && !j.Requeue:
		return "it may not be requeued (sbatch --no-requeue), so its number of GPUs cannot be changed"
	}
	return ""
}

// Running reports whether the job's script runs, and is not about to end.
func (j *Job) Running() bool {
	return j.State == client.Running && !slices.Contains(j.Flags, "COMPLETING")
}

// Wants returns how many GPUs a job asks for, or holds, on all nodes. Of a job that waits, what it asks for on
// each node counts: Slurm 22.05 shows the sum as it was before an update.
func Wants(j client.Job) int {
	each := j.PerNode.Total() * max(1, j.Needed)
	if n := j.GPUs.Total(); n > 0 && (each == 0 || !j.Waits()) {
		return n
	}
	return each
}

// Type returns the type of GPU that a job asks for; empty: any.
func Type(j *client.Job) string {
	for _, of := range []client.GPUs{j.GPUs, j.PerNode} {
		for _, t := range of.Types() {
			return t
		}
	}
	return ""
}

// holds sets what the job holds.
func (j *Job) holds(types map[string]string) {
	for _, h := range heldBy(&j.Job) {
		t := GPUType(types[h.Node])
		if j.Configuration.Nodes > 0 && t != j.Configuration.GPUType && j.Trouble == "" {
			j.Trouble = fmt.Sprintf("it holds GPUs of several types: %s and %s", j.Configuration.GPUType, t)
		}
		j.Configuration.Nodes, j.Configuration.GPUs, j.Configuration.GPUType = j.Configuration.Nodes+1, j.Configuration.GPUs+h.GPUs.Total(), t
		j.Placement = append(j.Placement, cluster.Share{Node: cluster.NodeID(h.Node), Resources: cluster.Resources{GPUs: h.GPUs.Total()}})
	}
	slices.SortFunc(j.Placement, func(a, b cluster.Share) int { return cmp.Compare(a.Node, b.Node) })
}

// heldBy returns what a job holds of each node. Where Slurm does not say it, GPUs are taken to be spread
// evenly, the first nodes having more.
func heldBy(j *client.Job) []client.Held {
	if len(j.HeldGPUs) > 0 || !j.Holds() {
		return j.HeldGPUs
	}
	var all []client.Held
	left := j.GPUs.Total()
	for i, n := range j.Nodes {
		rest := len(j.Nodes) - i
		share := (left + rest - 1) / rest
		left -= share
		if share > 0 {
			all = append(all, client.Held{Node: n, GPUs: client.GPUs{Type(j): share}})
		}
	}
	return all
}

// node takes up a node.
func (o *Observation) node(n *client.Node, b *Bounds, held map[cluster.NodeID]int) {
	types := n.GPUs.Types()
	if !slices.Contains(n.Partitions, b.Partition) || len(types) == 0 {
		return
	}
	if len(types) > 1 {
		o.Left = append(o.Left, fmt.Sprintf("node %s: GPUs of several types (%s)", n.Name, n.GPUs))
		return
	}
	gpus := n.GPUs.Total()
	if !n.Usable() {
		o.Left = append(o.Left, fmt.Sprintf("node %s: %s %s", n.Name, strings.ToLower(strings.Join(append([]string{n.State}, n.Flags...), "+")), n.Reason))
		gpus = held[cluster.NodeID(n.Name)]
	}
	if gpus > 0 {
		o.Nodes = append(o.Nodes, cluster.Node{
			ID: cluster.NodeID(n.Name), GPUType: GPUType(types[0]), Capacity: cluster.Resources{GPUs: gpus},
		})
	}
}

// unnamed is the type of GPUs that Slurm's configuration gives none, as simulate/trace/slurm has it.
const unnamed = "gpu"

// GPUType returns a type of Slurm as that of a cluster.
func GPUType(t string) cluster.GPUType { return cluster.GPUType(cmp.Or(t, unnamed)) }

// Barred returns the reason for which Slurm itself does not let a waiting job start, whatever is
// free; empty: it only waits for its turn or for GPUs.
func Barred(j *client.Job) string {
	switch j.Reason {
	case "", "None", "Resources", "Priority", "BeginTime", "Cleaning":
		return ""
	}
	if j.Reason == "JobHeldUser" || j.Reason == "JobHeldAdmin" || strings.HasPrefix(j.Reason, "ReqNodeNotAvail") {
		return ""
	}
	return j.Reason
}
