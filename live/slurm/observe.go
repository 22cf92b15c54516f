package slurm

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/model/cluster"
)

// Bounds state the partition and the accounts whose jobs the scheduler may change.
type Bounds struct {
	Partition string
	Accounts  []string // accounts whose jobs may be changed; empty: any
}

// A Job is a Slurm job whose comment asks the scheduler to manage it.
type Job struct {
	client.Job
	client.Request
	Mark          client.Mark
	Configuration cluster.Configuration // what the job holds; zero: nothing
	Placement     cluster.Placement
	// Trouble is the reason why the scheduler cannot manage the job; empty if it can.
	Trouble string
}

// Takes reports whether the scheduler manages the job.
func (j *Job) Takes() bool { return j.Trouble == "" }

// An Observation is the state of a partition: jobs, nodes and free GPUs.
type Observation struct {
	At time.Time
	// Jobs are the unfinished jobs that ask to be managed, by number.
	Jobs []Job
	// Others are the other waiting jobs of the partition, and those in Jobs that cannot be managed.
	Others []client.Job
	// Ended are managed jobs that ended, until Slurm forgets them.
	Ended []Job
	// Load are jobs of any partition that hold GPUs and are not managed, by number.
	Load []Job
	// Nodes are the nodes of the partition. An unusable node has only the GPUs that jobs hold.
	Nodes []cluster.Node
	// Unused explains, for people, which nodes with GPUs are not used.
	Unused []string
	// Epoch is the highest Mark.Epoch of any job, which numbers the schedulers that wrote marks; 0: none.
	Epoch int64
}

func observe(at time.Time, jobs []client.Job, nodes []client.Node, b *Bounds) *Observation {
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

// shared returns the nodes without the GPUs that the jobs in Load hold.
func (o *Observation) shared() []cluster.Node {
	load := o.held(o.Load)
	var all []cluster.Node
	for _, n := range o.Nodes {
		if n.Capacity.GPUs -= load[n.ID]; n.Capacity.GPUs > 0 {
			all = append(all, n)
		}
	}
	return all
}

// Free returns the free GPUs by node.
func (o *Observation) Free() map[cluster.NodeID]int {
	held, free := o.held(o.Jobs, o.Load), map[cluster.NodeID]int{}
	for i := range o.Nodes {
		free[o.Nodes[i].ID] = o.Nodes[i].Capacity.GPUs - held[o.Nodes[i].ID]
	}
	return free
}

func (o *Observation) add(c *client.Job, b *Bounds, types map[string]string) {
	j, asks := parse(c)
	j.setHeld(types)
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

func parse(c *client.Job) (j Job, asks bool) {
	j.Job = *c
	request, err := client.ParseRequest(c.Comment)
	mark, markErr := client.ParseMark(c.AdminComment)
	j.Request, j.Mark = request, mark
	if err == nil && request.Part == client.None {
		j.Trouble = "its comment no longer asks to take part"
		return j, mark != client.Mark{}
	}
	if err = errors.Join(err, markErr); err != nil {
		j.Trouble = err.Error()
	}
	return j, true
}

func trouble(j *Job, b *Bounds) string {
	switch {
	case len(b.Accounts) > 0 && !slices.Contains(b.Accounts, j.Account):
		return fmt.Sprintf("its account is %s; only %s can take part", j.Account, strings.Join(b.Accounts, " or "))
	case j.Tasks != "":
		return "tasks of an array take part only once they run"
	case j.Het != 0:
		return "it is part of a heterogeneous job"
	case Wants(j.Job) == 0:
		return "it requests no GPUs"
	case len(j.GPUs) > 1 || len(j.PerNode) > 1:
		return "it requests several GPU types: " + cmp.Or(j.GPUs.String(), j.PerNode.String())
	case j.Part == client.Elastic && !j.Requeue:
		return "it cannot be resized: it was submitted with sbatch --no-requeue"
	}
	return ""
}

func (j *Job) running() bool {
	return j.State == client.Running && !slices.Contains(j.Flags, "COMPLETING")
}

// Wants returns the number of GPUs that a job requests or holds. For a waiting job it computes the sum from the request
// per node, because Slurm 22.05 shows an outdated sum after an update.
func Wants(j client.Job) int {
	each := j.PerNode.Total() * max(1, j.Needed)
	if n := j.GPUs.Total(); n > 0 && (each == 0 || !j.Waits()) {
		return n
	}
	return each
}

func typeOf(j *client.Job) string {
	for _, of := range []client.GPUs{j.GPUs, j.PerNode} {
		for _, t := range of.Types() {
			return t
		}
	}
	return ""
}

func (j *Job) setHeld(types map[string]string) {
	for _, h := range heldBy(&j.Job) {
		t := gpuType(types[h.Node])
		if j.Configuration.Nodes > 0 && t != j.Configuration.GPUType && j.Trouble == "" {
			j.Trouble = fmt.Sprintf("it holds several GPU types: %s and %s", j.Configuration.GPUType, t)
		}
		j.Configuration.Nodes, j.Configuration.GPUs, j.Configuration.GPUType = j.Configuration.Nodes+1, j.Configuration.GPUs+h.GPUs.Total(), t
		j.Placement = append(j.Placement, cluster.Share{Node: cluster.NodeID(h.Node), Resources: cluster.Resources{GPUs: h.GPUs.Total()}})
	}
	slices.SortFunc(j.Placement, func(a, b cluster.Share) int { return cmp.Compare(a.Node, b.Node) })
}

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
			all = append(all, client.Held{Node: n, GPUs: client.GPUs{typeOf(j): share}})
		}
	}
	return all
}

func (o *Observation) node(n *client.Node, b *Bounds, held map[cluster.NodeID]int) {
	types := n.GPUs.Types()
	if !slices.Contains(n.Partitions, b.Partition) || len(types) == 0 {
		return
	}
	if len(types) > 1 {
		o.Unused = append(o.Unused, fmt.Sprintf("node %s: several GPU types (%s)", n.Name, n.GPUs))
		return
	}
	gpus := n.GPUs.Total()
	if !n.Usable() {
		o.Unused = append(o.Unused, fmt.Sprintf("node %s: %s %s", n.Name, strings.ToLower(strings.Join(append([]string{n.State}, n.Flags...), "+")), n.Reason))
		gpus = held[cluster.NodeID(n.Name)]
	}
	if gpus > 0 {
		o.Nodes = append(o.Nodes, cluster.Node{
			ID: cluster.NodeID(n.Name), GPUType: gpuType(types[0]), Capacity: cluster.Resources{GPUs: gpus},
		})
	}
}

const unnamed = "gpu"

func gpuType(t string) cluster.GPUType { return cluster.GPUType(cmp.Or(t, unnamed)) }

// whyBarred returns the reason why Slurm would not start a waiting job even if nodes were free. It is "" if the job only
// waits for its turn or for GPUs.
func whyBarred(j *client.Job) string {
	switch j.Reason {
	case "", "None", "Resources", "Priority", "BeginTime", "Cleaning":
		return ""
	}
	if j.Reason == "JobHeldUser" || j.Reason == "JobHeldAdmin" || strings.HasPrefix(j.Reason, "ReqNodeNotAvail") {
		return ""
	}
	return j.Reason
}
