package execute

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/device"
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
)

// Options say how generations are started.
type Options struct {
	Folders  statedir.Folders
	Machine  device.Machine
	Socket   string        // where workers find the agent API: a unix socket,
	URL      string        // and the same on loopback
	Cgroup   string        // a cgroup v2 directory in which to put jobs; empty: none
	Grace    time.Duration // from a notice until what still runs is killed
	LogBytes int64         // of each log file of a job
	LogFiles int           // kept of a job
}

// Launch returns what a supervisor has to know of the planned generation of a job, whose
// workers are bound to cores; nil: to none.
func Launch(o *Options, j *store.Job, cores []int) *supervisor.Launch {
	id, env := j.Spec.ID, slices.Clip(j.Request.Env)
	if u := j.Request.User; u != nil {
		env = slices.Clip(u.Environment(env))
	}
	l := &supervisor.Launch{
		Job: string(id), Generation: j.Generation, Tag: o.Folders.Tag(statedir.Generation{Job: id, Number: j.Generation}),
		Command: j.Request.Command, Dir: j.Request.Dir, Env: append(env, environment(o, j)...), User: j.Request.User,
		Log: o.Folders.Log(id), LogBytes: o.LogBytes, LogFiles: o.LogFiles, Grace: o.Grace, Cgroup: o.Cgroup,
	}
	for _, s := range j.Held {
		l.Workers = append(l.Workers, worker(o, j, s, cores))
	}
	return l
}

// worker returns the worker of a job on a slot. Workers have equal parts of the job's CPUs
// and memory.
func worker(o *Options, j *store.Job, slot int, cores []int) supervisor.Worker {
	n := len(j.Held)
	cpus := j.Status.Allocation.CPUs / float64(n)
	w := supervisor.Worker{CPUs: cores, Memory: j.Status.Allocation.Memory / int64(n)}
	w.Env = []string{"OXGANG_SLOT=" + strconv.Itoa(slot), "OMP_NUM_THREADS=" + strconv.Itoa(max(1, int(cpus)))}
	if s := o.Machine.Slots[slot]; s.Shared {
		w.Env = append(w.Env, "CUDA_VISIBLE_DEVICES="+s.Visible)
	}
	if cpus > 0 {
		w.Env = append(w.Env, fmt.Sprintf("OXGANG_CPUS=%g", cpus))
	}
	if w.Memory > 0 {
		w.Env = append(w.Env, fmt.Sprintf("OXGANG_MEMORY=%d", w.Memory))
	}
	return w
}

// environment returns what all workers of a job have in their environment.
func environment(o *Options, j *store.Job) []string {
	env := []string{
		"OXGANG_SOCKET=" + o.Socket, "OXGANG_URL=" + o.URL, "OXGANG_TOKEN=" + j.Token,
		"OXGANG_JOB=" + string(j.Spec.ID), "OXGANG_GENERATION=" + strconv.Itoa(j.Generation),
		"OXGANG_CHECKPOINTS=" + o.Folders.Checkpoints(j.Spec.ID),
	}
	if slices.ContainsFunc(j.Held, func(s int) bool { return o.Machine.Slots[s].Shared }) {
		return append(env, "OXGANG_SHARED_GPU=1") // each worker sees its own
	}
	visible := make([]string, len(j.Held))
	for rank, s := range j.Held {
		visible[rank] = o.Machine.Slots[s].Visible
	}
	return append(env, "CUDA_VISIBLE_DEVICES="+strings.Trim(strings.Join(visible, ","), ","))
}
