package local

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
)

func (b *Backend) launch(j *store.Job, cores []int) *supervisor.Launch {
	o, id, env := &b.o, j.Spec.ID, slices.Clip(j.Request.Env)
	if u := j.Request.User; u != nil {
		env = slices.Clip(u.Environment(env))
	}
	l := &supervisor.Launch{
		Job: string(id), Generation: j.Generation, Tag: b.folders.Tag(statedir.Generation{Job: id, Number: j.Generation}),
		Command: j.Request.Command, Dir: j.Request.Dir, Env: append(env, b.environment(j)...), User: j.Request.User,
		Log: b.folders.Log(id), LogBytes: o.LogBytes, LogFiles: o.LogFiles, Grace: o.Grace, Cgroup: o.Cgroup,
	}
	for _, s := range j.Held {
		l.Workers = append(l.Workers, b.worker(j, s, cores))
	}
	return l
}

func (b *Backend) worker(j *store.Job, slot int, cores []int) supervisor.Worker {
	n := len(j.Held)
	cpus := j.Status.Allocation.CPUs / float64(n)
	w := supervisor.Worker{CPUs: cores, Memory: j.Status.Allocation.Memory / int64(n)}
	w.Env = []string{"OXGANG_SLOT=" + strconv.Itoa(slot), "OMP_NUM_THREADS=" + strconv.Itoa(max(1, int(cpus)))}
	if s := b.o.Machine.Slots[slot]; s.Shared {
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

func (b *Backend) environment(j *store.Job) []string {
	env := []string{
		"OXGANG_SOCKET=" + b.o.Socket, "OXGANG_URL=" + b.o.URL, "OXGANG_TOKEN=" + j.Token,
		"OXGANG_JOB=" + string(j.Spec.ID), "OXGANG_GENERATION=" + strconv.Itoa(j.Generation),
		"OXGANG_CHECKPOINTS=" + b.folders.Checkpoints(j.Spec.ID),
	}
	if slices.ContainsFunc(j.Held, func(s int) bool { return b.o.Machine.Slots[s].Shared }) {
		return append(env, "OXGANG_SHARED_GPU=1") // each worker sees only its own
	}
	visible := make([]string, len(j.Held))
	for rank, s := range j.Held {
		visible[rank] = b.o.Machine.Slots[s].Visible
	}
	return append(env, "CUDA_VISIBLE_DEVICES="+strings.Trim(strings.Join(visible, ","), ","))
}
